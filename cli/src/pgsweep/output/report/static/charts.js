// Draws the charts of a page. Each figure with a chart has its data as JSON, and a table of the
// same numbers, which is all there is without this script. Times are local ones, told as UTC.
"use strict";
(() => {
  const ROW = 42;
  const CLOSE_PX = 3;
  const shown = new Map();
  const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "gray";
  const two = (n) => String(n).padStart(2, "0");

  function clock(at, span) {
    const when = new Date(at * 1000);
    const day = `${two(when.getUTCDate())} ${when.toLocaleString("en", { month: "short", timeZone: "UTC" })}`;
    const time = `${two(when.getUTCHours())}:${two(when.getUTCMinutes())}`;
    if (span < 600) return `${time}:${two(when.getUTCSeconds())}`;
    if (span < 130000) return time;
    return when.getUTCHours() === 0 ? day : span < 400000 ? `${day} ${time}` : day;
  }

  // As the table does.
  const number = (value) =>
    value == null ? "–" : value.toLocaleString("en", { maximumFractionDigits: 2 });

  function time(data) {
    return {
      stroke: colour("muted"),
      grid: { stroke: colour("line"), width: 1 },
      ticks: { stroke: colour("line"), width: 1 },
      space: 70,
      values: (u, splits) =>
        splits.map((at) => clock(at, u.scales.x.max - u.scales.x.min)),
    };
  }

  function grey(u, data) {
    u.ctx.save();
    u.ctx.globalAlpha = 0.25;
    u.ctx.fillStyle = colour("muted");
    for (const [begin, end] of data.unknown) {
      const left = Math.max(u.valToPos(begin, "x", true), u.bbox.left);
      const right = Math.min(u.valToPos(end, "x", true), u.bbox.left + u.bbox.width);
      if (right > left) u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
    }
    u.ctx.restore();
  }

  function options(data, width, height) {
    return {
      width,
      height,
      padding: [8, 22, 0, 0],
      tzDate: (at) => uPlot.tzDate(new Date(at * 1e3), "Etc/UTC"),
      cursor: { drag: { x: true, y: false } },
      scales: { x: { time: true, range: (u, from, to) => [from ?? data.shown[0], to ?? data.shown[1]] } },
    };
  }

  function lines(figure, data, width) {
    const stacked = data.kind === "stack";
    const raw = data.series.map(([, , values]) => values);
    let below = null;
    const drawn = raw.map((values) => {
      if (!stacked) return values;
      const sums = values.map((value, i) => (value === null ? null : value + (below?.[i] ?? 0)));
      below = sums;
      return sums;
    });
    // The largest sum is drawn first, and the others over it.
    const order = raw.map((_, i) => i);
    if (stacked) order.reverse();
    const series = order.map((i) => ({
      label: data.series[i][0],
      stroke: colour(data.series[i][1]),
      fill: stacked ? colour(data.series[i][1]) : undefined,
      width: stacked ? 0 : 2,
      points: { show: false },
      paths: uPlot.paths.stepped({ align: 1 }),
      value: (_, __, ___, at) => (at == null ? "–" : `${number(raw[i][at])} ${data.unit}`),
    }));
    const times = data.times;
    const made = options(data, width, width < 500 ? 200 : 240);
    made.series = [
      { label: "at", value: (_, at) => (at == null ? "–" : clock(at, data.shown[1] - data.shown[0])) },
      ...series,
    ];
    made.axes = [time(data), {
      stroke: colour("muted"),
      grid: { stroke: colour("line"), width: 1 },
      ticks: { show: false },
      size: 56,
      values: (_, splits) => splits.map(number),
    }];
    made.scales.y = { range: (_, least, most) => [0, most > 0 ? most * 1.05 : 1] };
    made.hooks = {
      drawClear: [(u) => grey(u, data)],
      draw: [(u) => {
        u.ctx.save();
        u.ctx.strokeStyle = colour("muted");
        u.ctx.setLineDash([4, 4]);
        for (const at of data.marks) {
          const x = u.valToPos(at, "x", true);
          if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
          u.ctx.beginPath();
          u.ctx.moveTo(x, u.bbox.top);
          u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
          u.ctx.stroke();
        }
        u.ctx.restore();
      }],
    };
    // Without a value at both ends the axis would end where the values do.
    const ends = [data.shown[0], ...times, data.shown[1]];
    const values = order.map((i) => [null, ...drawn[i], null]);
    raw.forEach((values, i) => (raw[i] = [null, ...values, null]));
    return new uPlot(made, [ends, ...values], figure.querySelector(".canvas"));
  }

  function timeline(figure, data, width) {
    const about = figure.querySelector(".about");
    const made = options(data, width, data.rows.length * ROW + 40);
    made.legend = { show: false };
    made.series = [{}, { show: false }];
    made.axes = [time(data), { show: false }];
    made.scales.y = { range: [0, 1] };
    made.cursor.y = false;
    const box = (u, [row, begin, end]) => {
      const left = Math.max(u.valToPos(begin, "x", true), u.bbox.left);
      const right = Math.min(u.valToPos(end, "x", true), u.bbox.left + u.bbox.width);
      const ratio = uPlot.pxRatio;
      return [left, u.bbox.top + (row * ROW + 22) * ratio, Math.max(right - left, 1.6 * ratio), 10 * ratio];
    };
    const seen = (u, bar) => bar[2] >= u.scales.x.min && bar[1] <= u.scales.x.max;
    made.hooks = {
      drawClear: [(u) => grey(u, data)],
      draw: [(u) => {
        const ratio = uPlot.pxRatio;
        u.ctx.save();
        u.ctx.textBaseline = "middle";
        u.ctx.font = `${13 * ratio}px system-ui, sans-serif`;
        data.rows.forEach(([name, note], row) => {
          const y = u.bbox.top + (row * ROW + 11) * ratio;
          u.ctx.textAlign = "right";
          u.ctx.fillStyle = colour("muted");
          u.ctx.fillText(note, u.bbox.left + u.bbox.width, y);
          const room = u.bbox.width - u.ctx.measureText(note).width - 12 * ratio;
          u.ctx.textAlign = "left";
          u.ctx.fillStyle = colour("ink");
          let written = name;
          while (written.length > 1 && u.ctx.measureText(written).width > room)
            written = `${written.slice(0, -2)}…`;
          u.ctx.fillText(written, u.bbox.left, y);
        });
        for (const bar of data.bars) {
          if (!seen(u, bar)) continue;
          u.ctx.fillStyle = colour(bar[4]);
          u.ctx.fillRect(...box(u, bar));
        }
        u.ctx.restore();
      }],
      setCursor: [(u) => {
        const { left, top } = u.cursor;
        const ratio = uPlot.pxRatio;
        const x = u.bbox.left + left * ratio;
        const row = Math.floor(top / ROW);
        const near = CLOSE_PX * ratio;
        const found = left < 0 ? undefined : data.bars.find((bar) => {
          if (bar[0] !== row || !seen(u, bar)) return false;
          const [begin, , wide] = box(u, bar);
          return x >= begin - near && x <= begin + wide + near;
        });
        about.textContent = found?.[3] ?? "";
      }],
    };
    const values = [[data.shown[0], data.shown[1]], [null, null]];
    return new uPlot(made, values, figure.querySelector(".canvas"));
  }

  function draw(figure) {
    const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const canvas = figure.querySelector(".canvas");
    const width = Math.floor(canvas.clientWidth);
    if (width === 0) return;
    shown.get(figure)?.destroy();
    shown.set(figure, (data.kind === "timeline" ? timeline : lines)(figure, data, width));
  }

  const widths = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      const figure = target.closest("figure");
      if (Math.floor(contentRect.width) !== shown.get(figure)?.width) draw(figure);
    }
  });

  // Of a page whose contents were replaced the old charts are gone.
  function look() {
    for (const [figure, chart] of shown) {
      if (figure.isConnected) continue;
      chart.destroy();
      shown.delete(figure);
    }
    for (const canvas of document.querySelectorAll("figure[data-chart] .canvas"))
      if (!shown.has(canvas.closest("figure"))) widths.observe(canvas);
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    [...shown.keys()].forEach(draw),
  );
  document.addEventListener("replaced", look);
  look();
})();
