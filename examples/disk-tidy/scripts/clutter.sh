# Shared by the tools of this skill. Bash builtins only: no pipes, no $(...), no programs.

# A stable order and byte-wise matching, whatever the machine's language is.
LC_ALL=C
shopt -s globstar nullglob dotglob

# Prints the error envelope and ends the run: fail CODE MESSAGE
fail() {
  json_string "$2"
  printf '{"status":"error","error":{"code":"%s","message":%s,"retriable":false}}\n' "$1" "$quoted"
  exit 0
}

# Puts a text into `quoted` as a JSON string.
json_string() {
  local text=$1 out='' char code i
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    case $char in
      '"' | \\) out+="\\$char" ;;
      [[:cntrl:]])
        printf -v code '\\u%04x' "'$char"
        out+=$code
        ;;
      *) out+=$char ;;
    esac
  done
  quoted="\"$out\""
}

# Reads {"folder": "…"} from stdin into `folder`. Anything else is refused, so nothing needs unescaping.
read_folder() {
  local input='' s='[[:space:]]*'
  IFS= read -r -d '' input
  if [[ ! $input =~ ^$s\{$s\"folder\"$s:$s\"([A-Za-z0-9._/-]{1,200})\"$s\}$s$ ]]; then
    fail INVALID_ARGUMENT 'expected one field, folder, of letters, digits and . _ / -'
  fi
  folder=${BASH_REMATCH[1]}
  case /$folder/ in
    //* | */../*) fail INVALID_ARGUMENT 'folder must be relative and stay inside the workspace' ;;
  esac
  while [[ $folder == */ ]]; do folder=${folder%/}; done
}

# Collects the paths below `folder` into `found`, sorted.
find_clutter() {
  local root=$folder skill=${BASH_SOURCE[0]%/*}/.. path
  # The sample that comes with the skill can be named from anywhere.
  if [[ ! -d $root ]]; then root=$skill/$folder; fi
  if [[ ! -d $root || -L $root ]]; then fail NOT_FOUND "there is no folder $folder"; fi
  found=()
  for path in "$root"/**; do
    case $path in
      *.bak | *.orig | *.rej | *.tmp) ;;
      *) continue ;;
    esac
    if [[ ! -f $path || -L $path ]]; then continue; fi
    found+=("$path")
  done
  found=("${found[@]/#"$root"/"$folder"}")
  found_in=$root
}

# Puts the kind of a path into `kind`.
kind_of() {
  case $1 in
    *.bak) kind=backup ;;
    *.orig | *.rej) kind='merge leftover' ;;
    *) kind=temporary ;;
  esac
}
