"""The official files of MNIST, CIFAR-10 and CIFAR-100: their URLs and checksums.

The SHA-256 of each file decides; it was computed from the official content. The MD5s and sizes of the archives are the
published ones; they detect a wrong download before it is unpacked.
"""

from dataclasses import dataclass

from banditselect.runtime import errors


@dataclass(frozen=True)
class File:
    """A file on the disk."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Source:
    """A download: one file, or a ``.tar.gz`` archive with several.

    Attributes
    ----------
    urls: mirrors, tried in this order.
    size, md5: of the download.
    files: the files in it. In an archive, they are in the data set's folder.
    """

    urls: tuple[str, ...]
    size: int
    md5: str
    files: tuple[File, ...]

    @property
    def name(self) -> str:
        """The last part of the URLs."""
        return self.urls[0].rpartition("/")[2]

    @property
    def packed(self) -> bool:
        """True for an archive."""
        return self.name.endswith(".tar.gz")


@dataclass(frozen=True)
class DataSet:
    """A data set: its name here, its folder and where its files come from."""

    name: str
    folder: str
    sources: tuple[Source, ...]

    @property
    def files(self) -> dict[str, File]:
        """All files by name."""
        return {file.name: file for source in self.sources for file in source.files}


def lookup(dataset: str | DataSet) -> DataSet:
    """Return the data set of a name.

    Examples
    --------
    >>> lookup("cifar10").folder
    'cifar-10-batches-bin'
    """
    if isinstance(dataset, DataSet):
        return dataset
    if dataset not in DATASETS:
        raise errors.refuse("dataset", dataset, f"one of {', '.join(DATASETS)}")
    return DATASETS[dataset]


def _mnist(name: str, size: int, md5: str, sha256: str) -> Source:
    mirrors = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
    return Source(tuple(mirror + name for mirror in mirrors), size, md5, (File(name, size, sha256),))


DATASETS = {
    dataset.name: dataset
    for dataset in (
        DataSet(
            "mnist",
            "mnist",
            (
                _mnist(
                    "train-images-idx3-ubyte.gz",
                    9_912_422,
                    "f68b3c2dcbeaaa9fbdd348bbdeb94873",
                    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                ),
                _mnist(
                    "train-labels-idx1-ubyte.gz",
                    28_881,
                    "d53e105ee54ea40749a09fcbcd1e9432",
                    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                ),
                _mnist(
                    "t10k-images-idx3-ubyte.gz",
                    1_648_877,
                    "9fb629c4189551a2d022fa330f9573f3",
                    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                ),
                _mnist(
                    "t10k-labels-idx1-ubyte.gz",
                    4_542,
                    "ec29112dd5afa0611ce80d1b7f02629c",
                    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                ),
            ),
        ),
        DataSet(
            "cifar10",
            "cifar-10-batches-bin",
            (
                Source(
                    ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
                    170_052_171,
                    "c32a1d4ab5d03f1284b67883e8d87530",
                    tuple(
                        File(name, 30_730_000, sha256)
                        for name, sha256 in {
                            "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
                            "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
                            "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
                            "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
                            "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
                            "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
                        }.items()
                    ),
                ),
            ),
        ),
        DataSet(
            "cifar100",
            "cifar-100-binary",
            (
                Source(
                    ("https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",),
                    168_513_733,
                    "03b5dce01913d631647c71ecec9e9cb8",
                    (
                        File(
                            "train.bin",
                            153_700_000,
                            "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
                        ),
                        File(
                            "test.bin", 30_740_000, "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"
                        ),
                    ),
                ),
            ),
        ),
    )
}
