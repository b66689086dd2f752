"use strict";
// Puts the page's own colours into the figures and draws them again when the theme or width changes.
(function () {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function role(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function coloured(value) {
    if (typeof value === "string" && value.startsWith("role:")) return role(value.slice(5));
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v)]));
    }
    return value;
  }

  function layoutOf(figure, narrow) {
    const axis = { gridcolor: role("line"), zerolinecolor: role("line"), linecolor: role("line") };
    const own = coloured(figure.layout);
    return Object.assign(own, {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: role("ink"), size: narrow ? 11 : 13 },
      margin: { l: 8, r: 8, t: 8, b: 8 },
      xaxis: Object.assign({ automargin: true }, axis, own.xaxis),
      yaxis: Object.assign({}, axis, own.yaxis),
      hovermode: "closest",
    });
  }

  function draw() {
    const narrow = window.innerWidth < 600;
    for (const [name, figure] of Object.entries(figures)) {
      const place = document.getElementById("figure-" + name);
      if (!place) continue;
      const options = { responsive: true, displayModeBar: false };
      Plotly.react(place, coloured(figure.data), layoutOf(figure, narrow), options);
    }
  }

  draw();
  dark.addEventListener("change", draw);
})();
