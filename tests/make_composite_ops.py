"""Prints the ATen ops that are composite in every overload, for compdiff/importers/composite_ops.txt."""

from collections import defaultdict

import torch

_KEY = "CompositeImplicitAutograd"


def composite_ops() -> list[str]:
    """Return their names without the namespace, sorted."""
    found: dict[str, list[bool]] = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        try:
            found[schema.name].append(torch._C._dispatch_has_kernel_for_dispatch_key(name, _KEY))
        except RuntimeError:  # a TorchScript op that the dispatcher does not know
            continue
    return sorted(
        name.removeprefix("aten::") for name, kinds in found.items() if kinds and all(kinds)
    )


if __name__ == "__main__":
    print("\n".join(composite_ops()))  # noqa: T201 - a script
