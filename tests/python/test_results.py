"""What results say where runs differ in what was timed."""

import re

import numpy as np
import pytest

import raddle

WORK = "hotspot steps=100 rows=64 columns=64 size=tiny"


def text_of(html):
    return re.sub("<[^>]+>", " ", html.split("</style>")[1])


def test_blocks_of_a_corun_end_with_it():
    result = raddle.corun(["vecadd size=tiny", "spmv size=tiny"], 8000, gpu="ccbp")
    spans = result.blocks
    assert int(spans.end.max()) <= result.cycles == 8000
    assert 0 < int((spans.end - spans.start).max()) <= 8000


def test_a_run_without_timing_has_no_speed_up():
    functional = raddle.run("bfs", functional=True, size="tiny")
    timed = raddle.run("bfs", live=True, gpu="gtx480", size="tiny")
    for runs in ([functional, timed], [timed, functional], [functional, functional]):
        found = raddle.Results(runs)
        table, shown = str(found), text_of(found._repr_html_())
        assert "0.000" not in table and "fastest" not in table
        assert table.count("not timed") == runs.count(functional)
        assert f"{timed.cycles:,}" in shown or timed not in runs
        assert " 0 " not in shown.split("Cycles")[0]


@pytest.mark.parametrize("errors", [[0.1, 0], [0, 0.1]])
def test_the_heading_says_what_holds_for_all_rows(errors):
    found = raddle.sweep(WORK, {"run.sampling_error": errors}, gpu="gtx480")
    sampled = found[errors.index(0.1)]
    launches = sampled._native.timed_launches()
    assert re.fullmatch(r"\d+ launches timed, \d+ estimated", launches)
    for text in (str(found), text_of(found._repr_html_())):
        assert text.count(launches) == 1
        heading = text.strip().splitlines()[0].split("policy")[0].split("cycles")[0]
        assert "launches" not in heading
    row = str(found).splitlines()[2 + errors.index(0.1)]
    assert launches in row
    assert "100 launches" in str(found).splitlines()[2 + errors.index(0)]
    alike = raddle.compare(WORK, ["lrr", "gto"], sampling_error=0.1, gpu="gtx480")
    assert all(one._native.timed_launches() for one in alike)


def test_all_launches_are_told():
    pytest.importorskip("pandas")
    result = raddle.run("hotspot", steps=600, rows=32, columns=32, size="tiny", gpu="gtx480")
    assert len(result.kernels) == 600 and "cycles" in result.kernels[599]
    frame = result.frame()
    assert len(frame) == 600 and np.array_equal(frame.cycles,
                                                [one.cycles for one in result.kernels])
    assert result.tree["kernels"] == [] and len(result.tree["kernels_by_name"]) == 1
    with pytest.raises(raddle.InputError, match="launches: expected a whole number"):
        result.json(launches=np.float32(2.5))


RACY = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry racy(.param .u64 to) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 kept[512];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, kept;
  add.u64 %rd3, %rd2, %rd1;
  st.shared.u32 [%rd3], %r1;
  ld.shared.u32 %r2, [kept];
  ret;
}
"""


def test_what_checks_found_is_shown_and_a_comparison_has_none(tmp_path):
    out = raddle.launch(RACY, 1, 128, [np.zeros(4)], gpu="gtx480", checks=["races"])
    assert out.result.checks.findings
    assert "race" in str(out.result) and "race" in text_of(out.result._repr_html_())
    clean = raddle.run("vecadd", size="tiny", gpu="gtx480")
    assert "<pre>" not in clean._repr_html_()
    with pytest.raises(raddle.InputError, match="--check does not hold for a comparison"):
        raddle.compare("vecadd", ["lrr", "gto"], size="tiny", checks=["races"])
