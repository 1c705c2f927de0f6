"""A model of a library by its name: random weights, few layers, no download. `corpus.py` runs it for each of them.

By hand: compdiff run benchmarks/corpus_model.py --param library=transformers --param name=bert --target h200
"""

from typing import Any

import torch

PARAMS = {"model": {"library": "timm", "name": "resnet18"}}
EXPECT = {"unexplained": None}

BATCH = 2
TOKENS = 16
SAMPLES = 16_000
LAYERS = 2
# What configurations call their number of layers.
LAYER_NAMES = frozenset(
    {
        "decoder_layers",
        "encoder_layers",
        "n_layer",
        "n_layers",
        "num_block",
        "num_blocks",
        "num_decoder_layers",
        "num_encoder_layers",
        "num_hidden_layers",
        "num_layers",
    }
)


def inputs(device: str, dtype: torch.dtype, library: str, name: str) -> dict[str, Any]:
    """Return the model and what it is called with."""
    make = {"timm": _of_timm, "transformers": _of_transformers}[library]
    model, called_with = make(name)
    moved = {key: _moved(value, device, dtype) for key, value in called_with.items()}
    return {"model": model.eval().to(device=device, dtype=dtype), **moved}


def fn(model: torch.nn.Module, **called_with: torch.Tensor) -> Any:  # noqa: ANN401 - what the model gives
    """Call the model; of several outputs the first is taken."""
    made = model(**called_with)
    return made if isinstance(made, torch.Tensor) else made[0]


def _moved(tensor: torch.Tensor, device: str, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(device, dtype) if tensor.is_floating_point() else tensor.to(device)


def _of_timm(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    import timm

    model = timm.create_model(name, pretrained=False)
    return model, {"x": torch.randn(BATCH, *model.pretrained_cfg["input_size"])}


def _of_transformers(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    from transformers import CONFIG_MAPPING, AutoModel

    config_class = CONFIG_MAPPING[name]
    config = config_class(**_fewer_layers(config_class().to_dict()))
    model = AutoModel.from_config(config)
    return model, _transformers_inputs(model, config)


def _fewer_layers(config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that make a configuration, and those inside it, one of few layers."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        if key in LAYER_NAMES and isinstance(value, int):
            found[key] = min(value, LAYERS)
        elif isinstance(value, dict) and key.endswith("config"):
            inner = _fewer_layers(value)
            if inner:
                found[key] = inner
    return found


def _transformers_inputs(model: Any, config: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - untyped library
    """Return inputs by the name of the main one; models of several kinds of input get all that their configuration names."""
    names = {model.main_input_name}
    if hasattr(config, "text_config"):
        names.add("input_ids")
    if hasattr(config, "vision_config"):
        names.add("pixel_values")
    if (
        config.is_encoder_decoder and model.main_input_name == "input_ids"
    ) or config.is_encoder_decoder:
        names.add("decoder_input_ids")
    return {name: _input(name, config) for name in sorted(names)}


def _input(name: str, config: Any) -> torch.Tensor:  # noqa: ANN401 - as above
    if name.endswith("input_ids"):
        return torch.randint(3, 100, (BATCH, TOKENS))
    if name == "pixel_values":
        vision = getattr(config, "vision_config", config)
        size = getattr(vision, "image_size", 224)
        sides = (size, size) if isinstance(size, int) else tuple(size)
        return torch.randn(BATCH, getattr(vision, "num_channels", 3), *sides)
    if name == "input_features":
        frames = 2 * getattr(config, "max_source_positions", SAMPLES // 160)
        return torch.randn(BATCH, getattr(config, "num_mel_bins", 80), frames)
    return torch.randn(BATCH, SAMPLES)
