"""How the package compiles: once, kept in files that are checked, never in the way."""

import ast
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import event
from numba.experimental import jitclass

import thresher
from thresher import jit, losses
from thresher.jit import DIGEST, KernelCache, KernelFolder, temporary_root

PACKAGE = Path(thresher.__file__).parent
compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def twice(number):
    return 2 * number


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Let the usual cache and temporary files be folders of the test's own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "usual"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


def new_kernel(folder=None):
    """Return a kernel as a new process would have it."""
    kernel = numba.njit(twice)
    kernel._cache = KernelCache(twice, folder or KernelFolder("name"))
    return kernel


def hits(kernel):
    assert kernel(3) == 6
    return sum(kernel.stats.cache_hits.values())


def kept(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


# ------------------------------------------------------------------------------------ the cache


@compiled
def test_kernels_are_compiled_once(caches):
    assert hits(new_kernel()) == 0
    assert hits(new_kernel()) == 1
    assert hits(new_kernel(KernelFolder("other sources"))) == 0
    kernel = new_kernel()
    assert kernel(1.5) == 3.0
    assert len(kept(caches / "usual")) == 3
    assert not kept(caches / "tmp")


@compiled
def test_damaged_kernels_are_compiled_anew(caches):
    hits(new_kernel())
    (file,) = kept(caches)
    whole = file.read_bytes()
    a_bit = whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:]
    for damaged in (b"", whole[:DIGEST], whole[:-1], a_bit, bytes(len(whole)), None):
        if damaged is None:
            KernelFolder("name").write(file.name, b"not what Numba wrote")
        else:
            file.write_bytes(damaged)
        assert hits(new_kernel()) == 0
        assert hits(new_kernel()) == 1


@compiled
def test_a_cache_that_cannot_be_written_is_warned_of_once(caches, caplog):
    (caches / "usual").write_text("in the way")
    (caches / "tmp" / temporary_root().name).write_text("in the way")
    folder = KernelFolder("name")
    for _ in range(2):
        assert hits(new_kernel(folder)) == 0
    (record,) = caplog.records
    assert f"cannot be kept in {caches / 'usual'}" in record.getMessage()
    assert "NUMBA_CACHE_DIR" in record.getMessage()


@compiled
def test_a_full_disk_is_warned_of_and_leaves_nothing(caches, caplog, monkeypatch):
    def full(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert hits(new_kernel()) == 0
    assert "No space left on device" in caplog.text
    assert not kept(caches)


def lay_link(root):
    root.parent.joinpath("theirs").mkdir(mode=0o700)
    root.symlink_to(root.parent / "theirs")


def leave_open(root):
    root.mkdir()
    root.chmod(0o770)


def belong_to_another(root):
    root.mkdir(mode=0o700)
    os.chown(root, 12345, -1)


@pytest.mark.parametrize("spoil", [lay_link, leave_open, belong_to_another])
def test_what_others_could_write_is_not_used(caches, spoil):
    if spoil is belong_to_another and os.getuid() != 0:
        pytest.skip("only root can give folders away")
    (caches / "usual").write_text("in the way")
    spoil(temporary_root())
    folder = KernelFolder("name")
    folder.write("kernel", b"code")
    assert folder.broken
    assert folder.read("kernel") is None
    assert not kept(caches / "tmp")


# ---------------------------------------------------------------------------------- the sources


def sources(folder):
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "a.py").write_text("from thresher.jit import jit\n")
    (folder / "other.py").write_text("import os\n")
    return folder


def test_changed_kernels_have_another_folder(tmp_path, monkeypatch):
    package = sources(tmp_path / "package")
    names = [jit.fingerprint(package)]
    (package / "other.py").write_text("import sys\n")
    assert jit.fingerprint(package) == names[0]
    (package / "kernels" / "a.py").write_text("from thresher.jit import jit\nONE = 1\n")
    names.append(jit.fingerprint(package))
    (package / "kernels" / "a.py").rename(package / "kernels" / "b.py")
    names.append(jit.fingerprint(package))
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 7)
    names.append(jit.fingerprint(package))
    assert len(set(names)) == 4


def is_kernel_file(path):
    return jit.KERNELS.search(path.read_bytes()) is not None


def constants_from_elsewhere(path):
    """Return what kernels of a file take from files whose changes the fingerprint does not see."""
    tree = ast.parse(path.read_text())
    foreign = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("thresher")
        for alias in node.names
        if not is_kernel_file(file_of(node.module, alias.name))
    }
    kernels = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(one, ast.Name) and one.id in ("jit", "inlined")
            for one in node.decorator_list
        )
    ]
    used = {node.id for k in kernels for node in ast.walk(k) if isinstance(node, ast.Name)}
    return used & foreign


def file_of(module, name):
    base = PACKAGE.parent.joinpath(*module.split("."))
    places = (base / f"{name}.py", base.with_suffix(".py"), base / "__init__.py")
    return next(path for path in places if path.exists())


def test_kernels_take_nothing_from_files_that_the_fingerprint_leaves_out():
    files = [path for path in PACKAGE.rglob("*.py") if is_kernel_file(path)]
    taken = {str(path): constants_from_elsewhere(path) for path in files}
    assert not {path: names for path, names in taken.items() if names}


# ----------------------------------------------------------------------------------- the notice


def compiling(function):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


OURS = compiling(losses.hinge if numba.config.DISABLE_JIT else losses.hinge.py_func)


def notice_after(seconds):
    times = iter(np.arange(0, 1000) * seconds)
    return jit.CompileNotice("the cache", clock=lambda: float(next(times)))


def test_the_notice_is_given_once_in_a_process(caplog):
    notice = notice_after(0.4)
    for _ in range(8):
        notice.on_start(OURS)
        notice.on_start(OURS)  # a kernel that it calls
        notice.on_end(OURS)
        notice.on_end(OURS)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().endswith("when it is first needed and then kept in the cache.")


def without_module():
    function = SimpleNamespace()
    function.__module__ = None
    return function


def test_kernels_of_others_are_not_noticed(caplog):
    notice = notice_after(10.0)
    functions = without_module(), None, np.sum
    for data in (*map(compiling, functions), {}, None, {"dispatcher": None}):
        other = data if isinstance(data, SimpleNamespace) else SimpleNamespace(data=data)
        for _ in range(3):
            notice.on_start(other)
            notice.on_end(other)
        notice.on_end(OURS)  # of a kernel whose start it has not seen
        assert not caplog.records
        assert notice.depth == 0


@compiled
def test_skglm_compiles_its_classes_beside_our_kernels():
    pytest.importorskip("skglm", reason="skglm is not installed: pip install 'thresher[dev]'")
    from skglm.datafits import Logistic
    from skglm.utils.jit_compilation import compiled_clone

    assert losses.hinge(0.0, 1.0) == 1.0
    assert compiled_clone(Logistic()).value(np.ones(2), np.zeros(2), np.zeros(2)) > 0.69


@compiled
def test_classes_can_be_compiled_beside_our_kernels():
    @jitclass([("number", numba.float64)])
    class Held:
        def __init__(self, number):
            self.number = number

    assert losses.hinge(0.0, 1.0) == 1.0
    assert Held(2.5).number == 2.5
    assert any(isinstance(one, jit.CompileNotice) for one in event._registered["numba:compile"])


# ------------------------------------------------------------------------------------- in general

# Learns from and predicts rows in containers that tempt kernels to compile anew; in a process of
# its own, since other tests may call kernels with anything.
ROUND = """
import sys
import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from scipy import sparse
from cases import NAMES, labelled_rows, make

rows, labels = labelled_rows(n_classes=3)
dense = rows.toarray()
held = [rows, sparse.csc_array(rows), sparse.csr_matrix(rows, dtype=np.float32), dense]
held += [np.asfortranarray(dense), dense != 0, dense[:, ::-1]]
for model in map(make, NAMES):
    for X in held:
        for y in (labels, labels > 0):
            model.fit(X, y, np.ones(y.size, np.float32)).partial_fit(X, y).predict(X)
ours = [vars(module) for name, module in sys.modules.items() if name.startswith("thresher.")]
kernels = [one for names in ours for one in names.values() if isinstance(one, Dispatcher)]
def kinds(one):  # a constant in the code is typed by its value while it is being compiled
    return {tuple(map(types.unliteral, signature)) for signature in one.signatures}
print({one.py_func.__name__ for one in kernels if len(kinds(one)) > 1})
"""


@compiled
def test_every_kernel_has_one_signature_whatever_it_is_given():
    folder = Path(__file__).parent
    assert subprocess.check_output([sys.executable, "-c", ROUND], cwd=folder).strip() == b"set()"


def test_numbas_settings_are_left_alone():
    before = numba.config.CACHE_DIR
    assert jit.jit(twice)(3) == 6
    assert before == numba.config.CACHE_DIR


def test_importing_the_package_does_not_import_numba():
    modules = "thresher, thresher.files, thresher.formats.errors"
    program = f"import sys, {modules}; sys.exit(not {{'numba', 'sklearn'}}.isdisjoint(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
