// Applies an RFC 6902 patch: applyPatch({document, patch, indent}, ctx) -> object. Imports nothing.

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const invalid = (message) => new Refused("INVALID_ARGUMENT", message);

/** The tool's handler: the patched document as text, or an error envelope. */
export function applyPatch(args, _ctx) {
  try {
    const before = parse(args.document, "document");
    const patch = parse(args.patch, "patch");
    if (!Array.isArray(patch)) throw invalid("patch is not an array of operations");
    const after = patch.reduce((document, operation, at) => step(document, operation, at), before);
    return {
      document: JSON.stringify(after, null, args.indent ?? 2),
      applied: patch.length,
      changed: !equal(parse(args.document, "document"), after),
    };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { status: "error", error: { code: error.code, message: error.message, retriable: false } };
  }
}

function parse(text, what) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`${what} is not JSON: ${error.message}`);
  }
  refuseLongIntegers(value, what);
  return value;
}

function refuseLongIntegers(value, what) {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw invalid(`${what} holds an integer beyond 9007199254740991`);
  }
  if (value !== null && typeof value === "object") {
    for (const inner of Object.values(value)) refuseLongIntegers(inner, what);
  }
}

function step(document, operation, at) {
  try {
    return run(document, operation);
  } catch (error) {
    if (error instanceof Refused) error.message = `operation ${at}: ${error.message}`;
    throw error;
  }
}

function run(document, operation) {
  if (operation === null || typeof operation !== "object" || Array.isArray(operation)) throw invalid("not an object");
  const path = pointer(operation, "path");
  switch (operation.op) {
    case "add":
      return add(document, path, needed(operation));
    case "remove":
      return remove(document, path);
    case "replace":
      needed(operation);
      if (path.length === 0) return operation.value;
      find(document, path);
      put(find(document, path.slice(0, -1)), path.at(-1), operation.value);
      return document;
    case "move": {
      const from = pointer(operation, "from");
      if (from.length < path.length && from.every((part, i) => part === path[i])) {
        throw invalid("a value cannot be moved into itself");
      }
      const value = find(document, from);
      // Nothing may be left where the whole document was taken from; it can only come back to the same place.
      if (from.length === 0) return value;
      return add(remove(document, from), path, value);
    }
    case "copy":
      return add(document, path, structuredClone(find(document, pointer(operation, "from"))));
    case "test":
      if (!equal(find(document, path), needed(operation))) {
        throw new Refused("TEST_FAILED", `${operation.path || "the document"} is not equal to the given value`);
      }
      return document;
    default:
      throw invalid(`there is no operation ${JSON.stringify(operation.op)}`);
  }
}

function needed(operation) {
  if (!Object.hasOwn(operation, "value")) throw invalid(`${operation.op} needs a value`);
  return structuredClone(operation.value);
}

/** The parts of a JSON Pointer (RFC 6901). */
function pointer(operation, field) {
  const text = operation[field];
  if (typeof text !== "string") throw invalid(`${field} is not a string`);
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) throw invalid(`${field} is not a JSON Pointer: ${text}`);
  return text.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function find(document, path) {
  let value = document;
  for (const [i, part] of path.entries()) {
    const key = Array.isArray(value) ? index(value, part, value.length - 1) : part;
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) {
      throw invalid(`there is nothing at /${path.slice(0, i + 1).join("/")}`);
    }
    value = value[key];
  }
  return value;
}

function index(array, part, last) {
  if (!/^(0|[1-9][0-9]*)$/.test(part)) throw invalid(`${part} is not an array index`);
  if (Number(part) > last) throw invalid(`index ${part} is beyond an array of ${array.length}`);
  return Number(part);
}

function add(document, path, value) {
  if (path.length === 0) return value;
  const parent = find(document, path.slice(0, -1));
  const last = path.at(-1);
  if (Array.isArray(parent)) {
    parent.splice(last === "-" ? parent.length : index(parent, last, parent.length), 0, value);
  } else if (parent !== null && typeof parent === "object") {
    put(parent, last, value);
  } else {
    throw invalid(`${JSON.stringify(parent)} can hold no member ${last}`);
  }
  return document;
}

function remove(document, path) {
  if (path.length === 0) throw invalid("the whole document cannot be removed");
  find(document, path);
  const parent = find(document, path.slice(0, -1));
  const last = path.at(-1);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return document;
}

/** Sets a member as data, also when it is called `__proto__`. */
function put(parent, key, value) {
  Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}

function equal(one, two) {
  if (one === null || two === null || typeof one !== "object" || typeof two !== "object") return one === two;
  if (Array.isArray(one) !== Array.isArray(two)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(two).length &&
    keys.every((key) => Object.hasOwn(two, key) && equal(one[key], two[key]))
  );
}
