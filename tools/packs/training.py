"""Train a classifier of images, and extract features from it. All randomness comes from a seed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditselect.types import Array, Index

from .networks import import_torch

Pixels = NDArray[np.uint8]

_BATCH = 500  #: images per batch where nothing is learned


@dataclass(frozen=True)
class Training:
    """The settings of training: SGD with momentum .9, one cycle of the learning rate.

    Attributes
    ----------
    steps, batch: of gradient descent.  rate: the peak of the learning rate, reached after ``warmup`` of the steps.
    decay: weight decay.  smoothing: of labels.  augment: shift images by up to 4 pixels and flip them.
    size: pixels to which images are enlarged (bicubic); 0 for none.  center, spread: pixels enter as
        (value - center) / spread.
    """

    steps: int
    batch: int
    rate: float
    warmup: float
    decay: float
    smoothing: float
    augment: bool
    size: int
    center: float
    spread: float


def seeded(seed: int, make: Callable[[], Any]) -> Any:
    """Return the result of ``make`` with torch's global random state seeded, and restore the state."""
    torch = import_torch()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return make()


def choose_device(device: str) -> str:
    """Return "cuda" or "cpu" for "auto", anything else as it is."""
    if device != "auto":
        return device
    return "cuda" if import_torch().cuda.is_available() else "cpu"


def train(
    network: Any,
    pixels: Pixels,
    labels: Index,
    training: Training,
    *,
    seed: int,
    device: str,
    watch: Callable[[int, Any], None] | None = None,
) -> None:
    """Train a network in place.

    Parameters
    ----------
    network: gives (features, scores) for a batch of images.
    pixels, labels: ``(n, 28, 28)`` or ``(n, 32, 32, 3)``, and ``(n,)``.
    device: "cpu" or "cuda"; the latter computes with 16 bits where torch thinks this safe.
    watch: called after every step with the number of steps so far and the loss.
    """
    torch = import_torch()
    functional = torch.nn.functional
    network.to(device, memory_format=torch.channels_last)
    x, y = torch.from_numpy(np.ascontiguousarray(pixels)).to(device), torch.from_numpy(labels).to(device)
    random = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(network.parameters(), lr=training.rate, momentum=0.9, nesterov=True)
    optimizer.param_groups[0]["weight_decay"] = training.decay
    cycle = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, training.rate, total_steps=max(training.steps, 2), pct_start=training.warmup, cycle_momentum=False
    )
    order, place = torch.empty(0, dtype=torch.int64), 0
    for step in range(1, training.steps + 1):
        if place + training.batch > order.numel():
            order, place = torch.randperm(len(labels), generator=random), 0
        chosen = order[place : place + training.batch].to(device)
        place += training.batch
        network.train()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=device == "cuda"):
            images = _prepared(x[chosen], training, random if training.augment else None)
            loss = functional.cross_entropy(network(images)[1], y[chosen], label_smoothing=training.smoothing)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cycle.step()
        if watch is not None:
            watch(step, loss.detach())


def features_of(network: Any, pixels: Pixels, training: Training, *, device: str) -> NDArray[np.float32]:
    """Return the features of images, ``(n, d)``, from a trained network, rounded to 16 bits."""
    torch = import_torch()
    network.to(device).eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(pixels), _BATCH):
            x = torch.from_numpy(np.ascontiguousarray(pixels[start : start + _BATCH])).to(device)
            parts.append(network(_prepared(x, training, None))[0].float().cpu().numpy())
    return np.concatenate(parts).astype(np.float16).astype(np.float32)


def head_of(network: Any) -> Array:
    """Return the weights and intercepts of the last layer, ``(classes, d + 1)``."""
    weight, bias = (p.detach().cpu().double().numpy() for p in (network.head.weight, network.head.bias))
    return np.column_stack([weight, bias])


def _prepared(x: Any, training: Training, random: Any) -> Any:
    """Return pixels ``(n, h, w)`` or ``(n, h, w, 3)`` as network input; shifted and flipped if ``random``."""
    torch = import_torch()
    functional = torch.nn.functional
    images = (x[:, None] if x.dim() == 3 else x.permute(0, 3, 1, 2)).float()
    if random is not None:
        n, _, h, w = images.shape
        shift = torch.randint(0, 9, (2, n, 1), generator=random).to(images.device)
        flip = torch.randint(0, 2, (n, 1), generator=random).to(images.device)
        rows = torch.arange(h, device=images.device) + shift[0]
        columns = torch.arange(w, device=images.device)
        columns = torch.where(flip == 1, w - 1 - columns, columns) + shift[1]
        images = functional.pad(images, (4, 4, 4, 4), mode="reflect")
        index = torch.arange(n, device=images.device)[:, None, None]
        images = images.permute(0, 2, 3, 1)[index, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
    images = (images - training.center) / training.spread
    if training.size:
        images = functional.interpolate(images, size=training.size, mode="bicubic", align_corners=False)
    return images.contiguous(memory_format=torch.channels_last)
