"""Prints the op overloads that torch tags as pointwise, for compdiff/missed/pointwise_ops.txt."""

from collections.abc import Iterator

import torch


def pointwise_ops() -> Iterator[str]:
    """Yield their names as FX graphs have them, but for those that write into an argument."""
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        overload = schema.overload_name or "default"
        if space not in {"aten", "prims"} or name.endswith("_") or schema.is_mutable:
            continue
        packet = getattr(getattr(torch.ops, space), name, None)
        if overload in getattr(packet, "overloads", list)():
            op = getattr(packet, overload)
            if torch.Tag.pointwise in op.tags:
                yield f"{space}.{name}.{overload}"


if __name__ == "__main__":
    print("# Overloads that torch 2.14 tags as pointwise, by tests/make_pointwise_ops.py.")  # noqa: T201 - a script
    print("\n".join(sorted(set(pointwise_ops()))))  # noqa: T201 - a script
