-- Drives the language server in a real Neovim, and writes what happened as JSON. Called by the tests of `rep`, with:
--   REP_FILE    the SKILL.md, which has one finding with a fix
--   REP_RESULT  the file for the result
--   REP_CONFIG  editors/nvim
--   PATH        with `rep` first
-- Works from Neovim 0.7 on: 0.11 and newer load `lsp/repertoire.lua` themselves.

local result = { version = tostring(vim.version().major) .. '.' .. tostring(vim.version().minor) }
local WAIT_MS = 30000

local function finish()
  local file = assert(io.open(vim.env.REP_RESULT, 'w'))
  file:write(vim.json.encode(result))
  file:close()
  vim.cmd('qall!')
end

local function wait(what, condition)
  if not vim.wait(WAIT_MS, condition, 10) then
    error(what .. ' did not happen')
  end
end

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)()
end

--- Starts the server for the current buffer, as a user of this version does.
local function start()
  if vim.lsp.enable then
    vim.opt.runtimepath:append(vim.env.REP_CONFIG)
    vim.lsp.enable('repertoire')
    vim.bo.filetype = 'markdown'
  elseif vim.lsp.start then
    local config = dofile(vim.env.REP_CONFIG .. '/lsp/repertoire.lua')
    config.name, config.root_dir = 'repertoire', config.root_dir(0)
    vim.lsp.start(config)
  else
    local id = vim.lsp.start_client({ cmd = { 'rep', 'lsp' }, root_dir = vim.fn.fnamemodify(vim.env.REP_FILE, ':h:h') })
    vim.lsp.buf_attach_client(0, id)
  end
  wait('the start of the server', function()
    return clients()[1] and clients()[1].server_capabilities
  end)
end

local function findings()
  local list = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    table.insert(list, { code = one.code, line = one.lnum, column = one.col, source = one.source })
  end
  return list
end

local function request(method, params)
  local answers = assert(vim.lsp.buf_request_sync(0, method, params, WAIT_MS))
  for _, answer in pairs(answers) do
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end
end

--- Applies the preferred fix of the first finding.
local function apply_fix(client)
  local first = vim.diagnostic.get(0)[1]
  local document = { uri = vim.uri_from_bufnr(0) }
  local whole = { start = { line = first.lnum, character = 0 }, ['end'] = { line = first.lnum + 1, character = 0 } }
  local actions = request('textDocument/codeAction', { textDocument = document, range = whole, context = { diagnostics = {} } })
  for _, action in ipairs(actions) do
    if action.isPreferred then
      result.fix = action.title
      vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
      return
    end
  end
end

--- Types a word in the frontmatter and applies the first completion.
local function apply_completion(client)
  vim.api.nvim_buf_set_lines(0, 1, 1, false, { 'lic' })
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 1, character = 3 } }
  local list = request('textDocument/completion', params)
  result.completions = {}
  for _, item in ipairs(list.items) do
    table.insert(result.completions, item.label)
    if item.label == 'license' then
      vim.lsp.util.apply_text_edits({ item.textEdit }, vim.api.nvim_get_current_buf(), client.offset_encoding)
    end
  end
end

local function main()
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.REP_FILE))
  start()
  local client = clients()[1]
  result.encoding = client.offset_encoding
  result.pulls = client.server_capabilities.diagnosticProvider ~= nil
  wait('the first finding', function()
    return #vim.diagnostic.get(0) > 0
  end)
  result.findings = findings()
  apply_fix(client)
  wait('the end of the finding', function()
    return #vim.diagnostic.get(0) == 0
  end)
  result.fixed = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  apply_completion(client)
  result.completed = vim.api.nvim_buf_get_lines(0, 1, 2, false)[1]
end

local done, problem = pcall(main)
if not done then
  result.problem = tostring(problem)
end
finish()
