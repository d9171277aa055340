-- Repertoire in Neovim 0.11 and newer. Copy this file to `~/.config/nvim/lsp/`, and add to `init.lua`:
--   vim.lsp.enable('repertoire')
-- With Neovim 0.10, `vim.lsp.start` takes the same table; docs/editors.md shows how.

--- Returns the directory of the skill that a buffer belongs to.
local function skill_folder(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if name:match('%.uasp%.yaml$') or vim.fs.basename(name) == 'SKILL.md' then
    return vim.fs.dirname(name)
  end
  local main = vim.fs.find('SKILL.md', { upward = true, path = vim.fs.dirname(name), limit = 1 })[1]
  return main and vim.fs.dirname(main)
end

--- Returns the root of the workspace: the repository, or else the directory around the skill.
local function workspace_root(buffer)
  local folder = skill_folder(buffer)
  if not folder then
    return nil
  end
  local marker = vim.fs.find({ 'rep.yaml', '.git' }, { upward = true, path = folder, limit = 1 })[1]
  return marker and vim.fs.dirname(marker) or vim.fs.dirname(folder)
end

--- Shows the output of `rep` in a new buffer.
local function show_output(arguments)
  local output = vim.system(arguments, { text = true }):wait()
  vim.cmd.new()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(output.stdout, '\n'))
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.filetype = 'nofile', 'wipe', 'markdown'
end

return {
  cmd = { 'rep', 'lsp' },
  filetypes = { 'markdown', 'yaml' },
  -- Only documents of skills need the server.
  root_dir = function(buffer, on_dir)
    local root = workspace_root(buffer)
    if root and on_dir then
      on_dir(root)
    end
    return root
  end,
  init_options = { commands = { 'repertoire.explain', 'repertoire.showModelView', 'repertoire.runTests' } },
  settings = { repertoire = {} },
  commands = {
    ['repertoire.explain'] = function(command)
      show_output({ 'rep', 'explain', command.arguments[1] })
    end,
    ['repertoire.showModelView'] = function(command)
      show_output({ 'rep', 'read', command.arguments[1] })
    end,
    ['repertoire.runTests'] = function(command)
      vim.cmd.new()
      vim.fn.jobstart({ 'rep', 'test', command.arguments[1] }, { term = true })
    end,
  },
}
