// The slider under or beside a chart that shows a part of it.
import * as echarts from "echarts/core";
import { DataZoomComponent } from "echarts/components";
import type { Theme } from "./theme";

echarts.use([DataZoomComponent]);

export function zoomSlider(t: Theme, rest: object): object {
  return {
    type: "slider", show: !document.documentElement.classList.contains("printing"), showDataShadow: false, brushSelect: false, borderColor: t.line, backgroundColor: "transparent",
    fillerColor: `${t.muted}30`, handleStyle: { color: t.paper, borderColor: t.muted },
    moveHandleStyle: { color: t.line }, emphasis: { moveHandleStyle: { color: t.muted } },
    textStyle: { color: t.muted, fontSize: 10 }, ...rest,
  };
}
