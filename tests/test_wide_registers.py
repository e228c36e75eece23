"""Machines wider than this one: their code can be read, if not run."""

import pickle
import platform
import re

import pytest

from cases import labelled_rows, make
from elsewhere import printed_by
from thresher.kernels.adaptive import run_bursts

# The kernel of all paths side by side, compiled but never run, as its instructions.
INSTRUCTIONS = """
import pickle, sys
from thresher.kernels.adaptive import run_bursts
for signature in pickle.loads(bytes.fromhex(sys.argv[1])):
    run_bursts.compile(signature)
print("\\n".join(run_bursts.inspect_asm().values()))
"""
WIDE = "x86-64-v4"  # LLVM's name for machines with AVX-512
# A product and a sum rounded once instead of twice, and quotients that are nearly right.
OTHER_ROUNDING = re.compile(r"\bv?(fn?m(add|sub)|rcp|rsqrt)\w*")


@pytest.mark.jit
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other machines have other registers")
def test_wider_registers_round_as_narrow_ones_do(tmp_path):
    """AVX-512: lanes in registers of 64 bytes, each number made as it is on any machine."""
    make("ThresherClassifier", n_paths=16).fit(*labelled_rows(n=60, p=20))
    wanted = pickle.dumps(run_bursts.signatures).hex()
    other = {"NUMBA_CPU_NAME": WIDE, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    code = printed_by(INSTRUCTIONS, wanted, **other)
    assert len(re.findall(r"\bv(add|mul)p[sd]\s.*%zmm", code)) > 10
    assert OTHER_ROUNDING.search(code) is None


def test_what_rounds_otherwise_is_recognised():
    for line in ("vfmadd231ps %zmm1, %zmm2, %zmm3", "vfnmsub132sd (%rax), %xmm0", "rsqrtps %xmm0"):
        assert OTHER_ROUNDING.search(line)
    assert OTHER_ROUNDING.search("vmulps %zmm1, %zmm2, %zmm3") is None
