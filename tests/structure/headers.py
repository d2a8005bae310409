#!/usr/bin/env python3
"""Checks that each header of src includes the standard header of every standard name that it uses.

usage: headers.py PROJECT_ROOT     prints each header with the includes that it lacks; exits 1 when there are any

A header that leaves one out compiles only behind others that have it. A source file may rely on the header of its own
name, which it includes first.
"""

import pathlib
import re
import sys

# Standard headers, and the names by which a file needs them.
NAMES = {
    "algorithm": r"(?:min|max|clamp|sort|copy_n|fill_n|ranges::(?:find|find_if|sort|any_of|all_of|none_of|copy|fill|equal))\b",
    "array": r"array\b",
    "atomic": r"(?:atomic|memory_order\w*|atomic_ref|atomic_thread_fence)\b",
    "chrono": r"chrono::",
    "condition_variable": r"condition_variable\b",
    "cstddef": r"(?:size_t|ptrdiff_t|byte|max_align_t)\b",
    "cstdint": r"u?int(?:8|16|32|64|ptr)_t\b",
    "cstring": r"mem(?:cpy|set|cmp|move)\b",
    "deque": r"deque\b",
    "functional": r"function\b",
    "limits": r"numeric_limits\b",
    "list": r"list\b",
    "map": r"map\b",
    "memory": r"(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|addressof)\b",
    "mutex": r"(?:mutex|lock_guard|unique_lock|scoped_lock|once_flag)\b",
    "new": r"(?:bad_alloc|nothrow|align_val_t)\b",
    "optional": r"(?:optional|nullopt)\b",
    "span": r"(?:span|as_bytes|as_writable_bytes)\b",
    "string": r"(?:string|to_string)\b",
    "string_view": r"string_view\b",
    "thread": r"(?:thread|this_thread)\b",
    "tuple": r"(?:tuple|tie|forward_as_tuple)\b",
    "type_traits": r"(?:is_\w+_v|enable_if_t|remove_\w+_t|conditional_t|decay_t|underlying_type_t)\b",
    "unordered_map": r"unordered_map\b",
    "utility": r"(?:move|pair|exchange|forward|swap|in_place)\b",
    "variant": r"(?:variant|visit|holds_alternative|monostate)\b",
    "vector": r"vector\b",
}
# A header that brings the names of others by its definition in the standard.
BRINGS = {"string": {"string_view"}, "cstring": {"cstddef"}}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
INCLUDE = re.compile(r"^\s*#\s*include\s*<([a-z_]+)>", re.MULTILINE)


def lacking(text):
    """The standard headers that a header's text needs and does not include."""
    included = set(INCLUDE.findall(text))
    for header in set(included):
        included |= BRINGS.get(header, set())
    code = COMMENT.sub("", re.sub(r"^\s*#[^\n]*$", "", text, flags=re.MULTILINE))
    return sorted(header for header, names in NAMES.items()
                  if header not in included and re.search(rf"\bstd::{names}", code))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    headers = sorted((root / "src").rglob("*.hpp"))
    wrong = 0
    for path in headers:
        if names := lacking(path.read_text(encoding="utf-8")):
            print(f"{path.relative_to(root)} lacks {', '.join(f'<{name}>' for name in names)}")
            wrong += 1
    print(f"{wrong} of {len(headers)} headers lack a standard header")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
