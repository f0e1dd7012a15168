"""Published data: pinned sources, download, verification and cache."""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path
from types import MappingProxyType

import platformdirs

from urs_inspect._util import InputError, choices

logger = getLogger(__name__)

CACHE_VARIABLE = "URS_INSPECT_CACHE_DIR"
DATA_VARIABLE = "URS_INSPECT_DATA_DIR"
_TIMEOUT = 30.0  # seconds without a byte after which a download is given up
_RAW_CONTENT = (  # type by which GitHub's API sends a content unchanged
    "application/vnd.github.raw+json"
)


@dataclass(frozen=True)
class PinnedFile:
    """A published file whose content is known by its SHA-256, or the id that git gives it."""

    name: str  # in commands
    path: str  # below the cache and data directories
    url: str  # holds the commit, or the id of the content
    licence: str  # what its repository states
    sha256: str = ""
    # SHA-1 of `blob <size>`, a NUL byte and the content; where no `sha256` is known
    git_id: str = ""
    # only in this form of the data; a file without it is another form, which no hash can check
    column: str = ""
    instead: str = ""  # what a user without the file can do, for the error message
    labels: str = ""  # whose labels it has, if it has any

    @property
    def expected(self) -> str:
        """The hash and its kind, as shown to people."""
        return f"sha256 {self.sha256}" if self.sha256 else f"git id {self.git_id}"


GITHUB_RAW = "https://raw.githubusercontent.com"
_PROMETHEUS = f"{GITHUB_RAW}/prometheus-eval/prometheus-eval"
_PROMETHEUS_2 = (
    f"{_PROMETHEUS}/49068950830a718f84d919c567d415e5628a6916/src/evaluation/benchmark/data"
)
_BLOBS = "https://api.github.com/repos/prometheus-eval/prometheus-eval/git/blobs"
_LLMBAR = (
    f"{GITHUB_RAW}/princeton-nlp/LLMBar/caa7bee794bfed74baed038b99229fa3f0c4c511/Dataset/LLMBar"
)


PEOPLE = "people"
GPT_4 = "GPT-4"
GPT_4O_VERIFIED = "GPT-4o, verified by people"
VERIFIED = "right answers, verified"
"""Whose labels a file may have."""


def _judge_bench(
    name: str, url: str, sha256: str, licence: str = "Apache-2.0", labels: str = PEOPLE
) -> PinnedFile:
    path = f"judge_bench/{url.rpartition('/')[2]}"
    return PinnedFile(name, path, url, licence, sha256, labels=labels)


def _labelled(
    name: str, file: str, address: str, licence: str, sha256: str, labels: str = PEOPLE
) -> PinnedFile:
    """Labels of a repository of their own; `address` is repository, commit and folder."""
    path = f"real_judges/{file}"
    inner = file.partition("/")[2]
    return PinnedFile(name, path, f"{GITHUB_RAW}/{address}/{inner}", licence, sha256, labels=labels)


def _llmbar(folder: str, sha256: str) -> PinnedFile:
    path = f"{folder}/dataset.json"
    name = f"llmbar/{folder.removeprefix('Adversarial/')}"
    return PinnedFile(
        name, f"judge_bench/llmbar/{path}", f"{_LLMBAR}/{path}", "MIT", sha256, labels=PEOPLE
    )


def _blob(
    name: str,
    file: str,
    git_id: str,
    licence: str,
    *,
    column: str = "",
    instead: str = "",
    labels: str = GPT_4,
) -> PinnedFile:
    """A file of prometheus-eval by the id of its content, which is also its address."""
    return PinnedFile(
        name,
        f"judge_bench/{file}",
        f"{_BLOBS}/{git_id}",
        licence,
        git_id=git_id,
        column=column,
        instead=instead,
        labels=labels,
    )


URS = PinnedFile(
    "urs",
    "urs/data_all.csv",
    f"{GITHUB_RAW}/Alice1998/URS/325eca97c45041b8d4bda6fefaf1975df12c75cd/data/data_all.csv",
    "no licence file in its repository; the paper says Apache",
    sha256="6041bb3bb1652c0fabcd442a1cea9d4c7c6ca0c3c9d865a4569b6e2cf58584e2",
    instead=(
        '-T dataset=sample (of urs-lm-eval: --metadata \'{"urs_dataset": "sample"}\') runs the'
        " small set that comes with this package"
    ),
)

_LLMBAR_2 = "princeton-nlp/LLMBar/900616bff90b6c6c8e1681f7d079250637c55992/Dataset"
_TRIVIAQA = (
    f"{GITHUB_RAW}/UMass-Meta-LLM-Eval/llm_eval/7c0bf28e75703cd41c6088bebb64eefcdf348bd4/results"
    "/TriviaQA_Judges_w_HumanJudgement_V2.csv"
)

_SOURCES = (
    URS,
    PinnedFile(
        "real_judges/triviaqa",
        f"real_judges/triviaqa/{_TRIVIAQA.rpartition('/')[2]}",
        _TRIVIAQA,
        "none stated in its repository",
        sha256="35291cdf5042a0f29d215f5707f975a021e0027a043bad35fcdda659ea8e3096",
        labels=PEOPLE,
    ),
    PinnedFile(
        "md_eval",
        "md_eval/test.json",
        f"{GITHUB_RAW}/Irving-Feng/SaMer/23553434a5337d97134b076223413201d9c6eee9/data/benchmark/MD-Eval/test.json",
        "MIT",
        sha256="df44c4b8d1d5026aa4057f93bd05ba0cc2ebd922919509d165725f8f1abead02",
        labels=GPT_4O_VERIFIED,
    ),
    _judge_bench(
        "hhh",
        f"{_PROMETHEUS}/8536c6d6f69f492fb364a2173e522d4dad034488/eval/benchmark/data/hhh_alignment_eval.json",
        "fe6655dfeec99d04d582692767c736f2385b5e067f0b894d1b73a32af7be9c9e",
    ),
    _llmbar("Natural", "f7127b7aa78104cb8e03a2b1b3ac0077e95b125714dd441a8ee63666145a3375"),
    _llmbar(
        "Adversarial/Neighbor", "6712c7eda6342602e0bc7c06c282fa95e2110d4e741a284026a62d937f9780a0"
    ),
    _llmbar(
        "Adversarial/GPTInst", "1002425f73c2cf54b6e6de99bce3f6c60fa2a17d13194772e37d7481c1351d42"
    ),
    _llmbar(
        "Adversarial/GPTOut", "1ff56e520d7607750a9866a3be0f5b850392ca4477a1f69d80f32bd3e310f561"
    ),
    _llmbar(
        "Adversarial/Manual", "0d9598769a39cdbbd265778c37e49939d41d5f76dcfb17bd75dcfa07516d3837"
    ),
    _judge_bench(
        "autoj",
        f"{_PROMETHEUS_2}/autoj_pairwise.json",
        "56f32fad71d9b6b33bc4d51794c324981e26355bcbf3ce4908d7f8ddcc61f80e",
        "none in the repository of AutoJ; this copy of it lies in one under Apache-2.0",
    ),
    _blob(
        "preference_bench",
        "preference_collection_ood_test.json",
        "8ec84131739db801757cb76107035650dce8dbd7",
        "Apache-2.0",
        column="chosen_instruction",
        instead=(
            "export huggingface.co/datasets/prometheus-eval/Preference-Bench as JSON Lines under"
            " that name"
        ),
    ),
    _blob(
        "alpaca_eval",
        "alpaca_eval.json",
        "de4304dacfec51201d33970cf371c1074e78a3e1",
        "CC BY-NC 4.0",
        column="chosen_instruction",
        instead=(
            "join annotations.json files of github.com/tatsu-lab/alpaca_eval"
            " (results/*/alpaca_eval_gpt4) under that name"
        ),
    ),
    _judge_bench(
        "vicuna",
        f"{_PROMETHEUS_2}/vicuna_eval.json",
        "131550a5815f75014a3ea71b0f534fb7ef0ca49b714c4e66935c35fdee1daacc",
        labels=GPT_4,
    ),
    _blob(
        "flask",
        "flask_eval.json",
        "0563a5769832269d52b8099406966fc127766b2f",
        "none in the repository of FLASK",
        labels=PEOPLE,
    ),
    _blob(
        "feedback_bench",
        "feedback_collection_ood_test.json",
        "28919454bf5aba9e0c082a0171ee50ff278c5e18",
        "Apache-2.0",
        column="gpt4_score",
        instead=(
            "export huggingface.co/datasets/prometheus-eval/Feedback-Bench as JSON Lines under that"
            " name"
        ),
    ),
    _judge_bench(
        "mt_bench",
        f"{_PROMETHEUS}/71bba040bc5147ed9b067fac334b8f21497e6a8c/eval/benchmark/data/mt_bench_eval.json",
        "5bf33413c34173c3b94f008499fd9098fb6338d5d1cf64f341e8e0c9b9f105cf",
        labels=GPT_4,
    ),
    *(
        _labelled(name, f"llmbar/{file}/dataset.json", _LLMBAR_2, "MIT", sha256)
        for name, file, sha256 in (
            (
                "fair_eval",
                "Processed/FairEval",
                "5b4a129258c1efa273a1b10fec399f5462b458facf900e8e1948f4acb1b37dd6",
            ),
            (
                "llm_eval_2",
                "Processed/LLMEval^2",
                "deffdaeccda39c0fb9337c7e20925ec2b973bfd456832c2f1ba0e9ca4cf107de",
            ),
            (
                "mt_bench_people",
                "Processed/MT-Bench",
                "c152249bc095d152485954bd2abd9ea79528ee5e4c045bfe9ef78755b03c20d8",
            ),
            (
                "case_study/Base_10",
                "CaseStudy/Base_10",
                "e36ae2461fd633c51afdbe19d9f62bc77089c7efc8a58e03fc273518a78ab1b0",
            ),
            (
                "case_study/Base_9",
                "CaseStudy/Base_9",
                "b3989dcdaddb277207ab86631db2185edd15802e27b947a5dacb663895fddd69",
            ),
            (
                "case_study/Constraint",
                "CaseStudy/Constraint",
                "8b702c755bdba59f63cf61e8643a5718799df8ed8f3b93b27dbf1db0e8c3c009",
            ),
            (
                "case_study/Negation",
                "CaseStudy/Negation",
                "c4ce566f652606d25445efedcb01d2a359c5ce03c6457e3c518a129dbd608c4e",
            ),
            (
                "case_study/Normal",
                "CaseStudy/Normal",
                "f6f2c4833d57ab8aaa8aa51bf521296b6f2e26323aad5c08da5331924af450ba",
            ),
        )
    ),
    _labelled(
        "panda_lm",
        "pandalm/testset-v1.json",
        "WeOpenML/PandaLM/3871806e72b4832f815ecafd24d3503c73403f48/data",
        "Apache-2.0",
        "cc154f9067c7382d7ea86f8f246511a5e1ac87e1fddd845c5938d789505b07a4",
    ),
    *(
        _labelled(
            f"judge_bench/{model}",
            f"judgebench/dataset=judgebench,response_model={model}.jsonl",
            "ScalerLab/JudgeBench/e2c52c284e735e139b3daa61c206ee208f36c461/data",
            "none in the repository",
            sha256,
            VERIFIED,
        )
        for model, sha256 in (
            (
                "gpt-4o-2024-05-13",
                "d5106306b38dead1b2e964ecf5534a3e7b2fc4b8d3b8da327599edfcebd76042",
            ),
            (
                "claude-3-5-sonnet-20240620",
                "3b70504588e400613bf5744a20a345da8701b7150be9a30c9db0e6f3d7b70a62",
            ),
        )
    ),
    *(
        _labelled(
            f"critique_llm{'_ratings' if folder == 'pointwise' else ''}/{form}",
            f"critiquellm/{folder}/alignbench_{form}_sample.jsonl",
            "thu-coai/CritiqueLLM/e1e0241bc0fec50d8125fe93044df56d5d289a8a/data/evaluation",
            "none in the repository",
            sha256,
        )
        for folder, form, sha256 in (
            (
                "pairwise",
                "reference_based",
                "d7634049824668b92eaa86c43b83a4e18289992aede7a4dcd09b93c9fc897bd3",
            ),
            (
                "pairwise",
                "reference_free",
                "c0cce90960d24c9f795184325f0dec16071869070e52c72580fe5f8fd5f88797",
            ),
            (
                "pointwise",
                "reference_based",
                "5133c5de27826b99f95004052955fba1e2955e4e801217a992c480f05d8ac1ea",
            ),
            (
                "pointwise",
                "reference_free",
                "c21439d0144746e466483e9261a90679344df02d82247897f56d0e6ebe4a9813",
            ),
        )
    ),
)
SOURCES: Mapping[str, PinnedFile] = MappingProxyType({source.name: source for source in _SOURCES})
"""All published files by name."""


def find_source(name: str) -> PinnedFile:
    """The pinned file of that name; `InputError` if there is none."""
    if name not in SOURCES:
        raise InputError(f"unknown data '{name}'; allowed: {choices(SOURCES)}")
    return SOURCES[name]


def cache_dir() -> Path:
    """Directory of downloaded files: `URS_INSPECT_CACHE_DIR`, or the platform's own."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_cache_dir("urs_inspect"))


def cache_path(source: PinnedFile) -> Path:
    """Where the file is, or would be, in the cache."""
    return cache_dir() / source.path


def locate(source: PinnedFile) -> Path | None:
    """Find a usable copy without the network: below `URS_INSPECT_DATA_DIR`, else in the cache.

    A damaged copy in the cache counts as none, because fetching replaces it; one below
    `URS_INSPECT_DATA_DIR` is the user's and raises `InputError`. The same data in another published
    form is usable, though no hash can check it.
    """
    if own := os.environ.get(DATA_VARIABLE):
        path = Path(own).expanduser() / source.path
        if path.is_file():
            if not _usable(source, path):
                raise InputError(
                    f"{path} ({DATA_VARIABLE}) is not the pinned '{source.name}' file: "
                    f"{actual_hash(source, path)}, expected {source.expected}"
                )
            return path
    path = cache_path(source)
    if path.is_file() and _usable(source, path):
        return path
    return None


def is_pinned(source: PinnedFile, path: Path) -> bool:
    """Whether a copy has the hash of the pinned file."""
    return actual_hash(source, path) == source.expected


def actual_hash(source: PinnedFile, path: Path) -> str:
    """Hash of a copy and its kind, as `PinnedFile.expected`."""
    if source.sha256:
        return f"sha256 {sha256_of(path)}"
    return f"git id {git_id_of(path.read_bytes())}"


def _usable(source: PinnedFile, path: Path) -> bool:
    return is_pinned(source, path) or (
        bool(source.column) and f'"{source.column}"'.encode() not in path.read_bytes()
    )


def fetch(source: PinnedFile) -> Path:
    """Return a verified copy; if there is none, download one into the cache.

    A download that fails or has another hash raises `InputError` and changes nothing in the cache.
    """
    return locate(source) or _download(source)


def _download(source: PinnedFile) -> Path:
    import httpx
    from inspect_ai.util import download
    from tenacity import RetryError

    target = cache_path(source)
    # A warning, because without a network the attempts take a while.
    logger.warning(f"Downloading the '{source.name}' data, once, from {source.url}")
    try:
        if source.sha256:
            return download(source.url, source.sha256, target, timeout=_TIMEOUT)
        return _download_blob(source, target)
    except (httpx.HTTPError, RetryError, OSError, ValueError) as error:
        cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
        raise InputError(
            f"cannot get the '{source.name}' data: {type(cause).__name__}: {cause}\n"
            f"  address:  {source.url}\n"
            f"  expected: {source.expected}\n"
            f"  Put the file at <dir>/{source.path} and set {DATA_VARIABLE}=<dir>, "
            f"or run `urs-inspect data fetch {source.name}` with network access."
            + (f"\n  Without it: {source.instead}" if source.instead else "")
        ) from error


def _download_blob(source: PinnedFile, target: Path) -> Path:
    """Download a content by its git id.

    One with another id, or cut short, is an error and no part of it stays.
    """
    import httpx

    response = httpx.get(
        source.url, headers={"Accept": _RAW_CONTENT}, follow_redirects=True, timeout=_TIMEOUT
    )
    response.raise_for_status()
    if (actual := git_id_of(response.content)) != source.git_id:
        raise ValueError(f"the download has the git id {actual}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        whole = Path(folder) / target.name
        whole.write_bytes(response.content)
        return whole.replace(target)


def git_id_of(content: bytes) -> str:
    """Id that git gives a content.

    It tells whether the content is the one that a repository holds.
    """
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
