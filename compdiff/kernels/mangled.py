"""Mangled C++ names (Itanium ABI). In: `_ZN2at...`. Out: the name as a demangler prints it, without parameters.

Source: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling. Expressions other than literals and addresses are
not read; a name that holds one, or breaks the rules, gives the part of it that can be read without them.
"""

import re
from dataclasses import dataclass, field

# A hostile name can make every type twice as long as the one before it.
_MOST_TEXT = 4_000_000
_DEEPEST = 90
# Stands in a function type where the mark of a pointer to it belongs.
_FUNCTION = "\0"
_SIMPLE = re.compile(r"_Z(?:L|N)?K?")
_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
    "e": "long double", "g": "__float128", "z": "...",
}  # fmt: skip
_D_BUILTIN = {
    "d": "decimal64", "e": "decimal128", "f": "decimal32", "h": "__half", "i": "char32_t", "s": "char16_t",
    "u": "char8_t", "a": "auto", "c": "decltype(auto)", "n": "decltype(nullptr)",
}  # fmt: skip
_STANDARD = {
    "t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream",
    "o": "std::ostream", "d": "std::iostream",
}  # fmt: skip
_QUALIFIER = {
    "r": " restrict", "V": " volatile", "K": " const",
}  # fmt: skip
_POINTER = {
    "P": "*", "R": "&", "O": "&&", "C": " complex",
    "G": " imaginary",
}  # fmt: skip
_LITERAL_SUFFIX = {
    "j": "u", "l": "l", "m": "ul", "x": "ll",
    "y": "ull",
}  # fmt: skip
_OPERATOR = {
    "cl": "()", "ix": "[]", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%",
    "eq": "==", "ne": "!=", "lt": " <", "gt": ">", "le": "<=", "ge": ">=", "aS": "=", "pt": "->", "an": "&",
    "or": "|", "eo": "^", "nt": "!", "co": "~", "aa": "&&", "oo": "||", "ls": "<<", "rs": ">>", "pp": "++",
    "mm": "--", "nw": " new", "dl": " delete", "de": "*", "ad": "&", "ng": "-", "ps": "+", "pL": "+=", "mI": "-=",
    "mL": "*=", "dV": "/=",
}  # fmt: skip


class _StopError(Exception):
    """The name breaks the rules, or holds what is not read here."""


def demangle(name: str) -> str:
    """Return the qualified name with its template arguments; what can be read of it where something cannot; "" for none."""
    if not name.startswith("_Z"):
        return ""
    try:
        return _Reader(name, 2).function_name()
    except (_StopError, IndexError):
        return _first_names(name)


def _first_names(name: str) -> str:
    """Return the plain names that a mangled name begins with: `_ZN2at6nativeI...` gives `at::native`."""
    match = _SIMPLE.match(name)
    at, names = match.end() if match else len(name), []
    while at < len(name) and name[at].isdigit():
        length = re.compile(r"\d{1,4}").match(name, at)
        if length is None or length.end() + int(length.group()) > len(name):
            break
        at = length.end() + int(length.group())
        names.append(_source_name(name[length.end() : at]))
        if not name.startswith(("_ZN", "_ZLN")):
            break
    return "::".join(names)


def _source_name(name: str) -> str:
    return "(anonymous namespace)" if name.startswith("_GLOBAL__N") else name


@dataclass
class _Reader:
    """A place in a mangled name, with the parts that later parts refer back to."""

    text: str
    at: int
    parts: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    depth: int = 0
    written: int = 0

    def peek(self, *starts: str) -> bool:
        return self.text.startswith(starts, self.at)

    def take(self, start: str) -> bool:
        if self.text.startswith(start, self.at):
            self.at += len(start)
            return True
        return False

    def expect(self, start: str) -> None:
        if not self.take(start):
            raise _StopError

    def letter(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def remember(self, part: str) -> str:
        self.written += len(part)
        if self.written > _MOST_TEXT:
            raise _StopError
        self.parts.append(part)
        return part

    def number(self) -> int:
        match = re.compile(r"\d{1,6}").match(self.text, self.at)
        if match is None:
            raise _StopError
        self.at = match.end()
        return int(match.group())

    def sequence_id(self) -> int:
        """Return the index after S or T: `_` is the first, `0_` the second; S counts in base 36."""
        match = re.compile(r"([0-9A-Z]{0,4})_").match(self.text, self.at)
        if match is None:
            raise _StopError
        self.at = match.end()
        return int(match.group(1), 36) + 1 if match.group(1) else 0

    def until_end(self, read: str) -> list[str]:
        """Return what `type` or `argument` reads up to the E that ends the list."""
        found: list[str] = []
        while not self.take("E"):
            found.append(self.type() if read == "type" else self.argument())
        return found

    # ------------------------------------------------------------ names

    def function_name(self) -> str:
        self.take("L")
        return self.name()

    def name(self) -> str:
        if self.take("N"):
            return self.nested()
        if self.take("Z"):
            return self.local()
        if self.peek("S") and not self.peek("St"):
            name = self.substitution()
        else:
            name = ("std::" if self.take("St") else "") + self.unqualified()
            if self.peek("I"):
                self.remember(name)
        return name + self.template_arguments() if self.peek("I") else name

    def nested(self) -> str:
        constant = ""
        while self.peek("r", "V", "K", "R", "O"):
            constant = " const" if self.letter() == "K" else constant
        name, fresh = "", False
        while not self.take("E"):
            if name and fresh:
                self.remember(name)
            name, fresh = self.prefix(name)
        return name + constant

    def prefix(self, name: str) -> tuple[str, bool]:
        """Return the longer prefix, and whether it is new: a substitution alone is not."""
        if self.peek("I"):
            return name + self.template_arguments(), True
        if self.peek("S") and not name:
            return (self.substitution(), False)
        if self.peek("T") and not name:
            return self.type(), False
        if self.take("M"):
            return name, False
        part = self.unqualified()
        return (f"{name}::{part}" if name else part), True

    def local(self) -> str:
        outer = self.encoding()
        self.expect("E")
        if self.take("s"):
            self.discriminator()
            return outer
        if self.take("d"):
            self.sequence_id()
        inner = self.name()
        self.discriminator()
        return f"{outer}::{inner}"

    def discriminator(self) -> None:
        match = re.compile(r"__\d+_|_\d").match(self.text, self.at)
        if match:
            self.at = match.end()

    def encoding(self) -> str:
        """Return a function with its parameters; one that is a template instance names its return type first."""
        name = self.name()
        if self.peek("E"):
            return name
        types = []
        while not self.peek("E", "."):
            types.append(self.type())
        returns = name.removesuffix(" const").endswith(">")
        constant = " const" if name.endswith(" const") else ""
        parameters = [one for one in types[1 if returns else 0 :] if one != "void"]
        return f"{name.removesuffix(' const')}({', '.join(parameters)}){constant}"

    def unqualified(self) -> str:
        self.take("L")
        if self.text[self.at].isdigit():
            name = self.source_name()
        elif self.take("Ul"):
            name = self.lambda_name()
        elif self.take("Ut"):
            name = f"{{unnamed type#{self.sequence_id() + 1}}}"
        elif self.peek("C", "D"):
            name = "{structor}"
            self.at += 2
        else:
            name = self.operator()
        while self.take("B"):
            self.source_name()
        return name

    def source_name(self) -> str:
        length = self.number()
        if self.at + length > len(self.text):
            raise _StopError
        self.at += length
        return _source_name(self.text[self.at - length : self.at])

    def lambda_name(self) -> str:
        types = [one for one in self.until_end("type") if one != "void"]
        return f"{{lambda({', '.join(types)})#{self.sequence_id() + 1}}}"

    def operator(self) -> str:
        code = self.letter() + self.letter()
        if code == "cv":
            return f"operator {self.type()}"
        if code not in _OPERATOR:
            raise _StopError
        return f"operator{_OPERATOR[code]}"

    def substitution(self) -> str:
        self.expect("S")
        if self.text[self.at] in _STANDARD:
            return _STANDARD[self.letter()]
        return self.parts[self.sequence_id()]

    # ------------------------------------------------------------ template arguments

    def template_arguments(self) -> str:
        self.expect("I")
        found = self.until_end("argument")
        self.arguments = found
        written = ", ".join(one for one in found if one)
        return f"<{written.replace(_FUNCTION, ' ')}>"

    def argument(self) -> str:
        if self.take("L"):
            return self.literal()
        if self.take("J"):
            return ", ".join(self.until_end("argument"))
        if self.take("X"):
            value = self.expression()
            self.expect("E")
            return value
        if self.take("Tn"):
            self.type()
            return self.argument()
        return self.type()

    def expression(self) -> str:
        """Return a literal, or the address of a function."""
        address = "&" if self.take("ad") else ""
        self.expect("L")
        return address + self.literal()

    def literal(self) -> str:
        if self.take("_Z"):
            value = self.encoding()
            self.expect("E")
            return value
        code = self.text[self.at]
        kind = self.type()
        end = self.text.index("E", self.at) if "E" in self.text[self.at : self.at + 64] else -1
        if end < 0:
            raise _StopError
        value = self.text[self.at : end].replace("n", "-", 1)
        self.at = end + 1
        if code == "b":
            return "true" if value == "1" else "false"
        if code == "i" or code in _LITERAL_SUFFIX:
            return value + _LITERAL_SUFFIX.get(code, "")
        return f"({kind}){value}"

    # ------------------------------------------------------------ types

    def type(self) -> str:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _StopError
        found = self.any_type()
        self.depth -= 1
        return found

    def any_type(self) -> str:
        code = self.text[self.at]
        if code in _BUILTIN:
            self.at += 1
            return _BUILTIN[code]
        if code in _QUALIFIER:
            self.at += 1
            return self.remember(self.type() + _QUALIFIER[code])
        if code in _POINTER:
            self.at += 1
            return self.remember(self.pointer(self.type(), _POINTER[code]))
        return self.compound(code)

    @staticmethod
    def pointer(target: str, mark: str) -> str:
        """Return a pointer or reference to a type, with C++'s place for that of a function."""
        if _FUNCTION in target:
            return target.replace(_FUNCTION, f" ({mark})", 1)
        return target + mark

    def compound(self, code: str) -> str:
        if code == "S" and not self.peek("St"):
            name = self.substitution()
            return self.remember(name + self.template_arguments()) if self.peek("I") else name
        if code == "T":
            return self.template_parameter()
        if code == "D":
            return self.d_type()
        if code in "AFMu":
            self.at += 1
            return self.remember(self.rare_type(code))
        return self.remember(self.name())

    def template_parameter(self) -> str:
        self.expect("T")
        index = self.sequence_id()
        name = self.arguments[index] if index < len(self.arguments) else "auto"
        self.remember(name)
        return self.remember(name + self.template_arguments()) if self.peek("I") else name

    def d_type(self) -> str:
        self.expect("D")
        code = self.letter()
        if code == "p":
            return self.remember(self.type())
        if code == "v":
            length = self.number()
            self.expect("_")
            return self.remember(f"{self.type()} __vector({length})")
        if code == "F":
            bits = self.number()
            return f"_Float{bits}" if self.letter() == "_" else "std::bfloat16_t"
        if code not in _D_BUILTIN:
            raise _StopError
        return _D_BUILTIN[code]

    def rare_type(self, code: str) -> str:
        """Return an array, a function, a pointer to a member or a vendor's own type."""
        if code == "u":
            return self.source_name()
        if code == "A":
            length = "" if self.peek("_") else str(self.number())
            self.expect("_")
            return f"{self.type()} [{length}]"
        if code == "M":
            owner = self.type()
            return f"{self.type()} {owner}::*"
        self.take("Y")
        types = self.until_end("type")
        return f"{types[0]}{_FUNCTION}({', '.join(one for one in types[1:] if one != 'void')})"
