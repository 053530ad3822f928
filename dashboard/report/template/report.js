"use strict";
// colours of text and grid come from the style sheet, which knows dark screens and light paper
for (const place of document.querySelectorAll("[data-figure]")) {
  const source = document.getElementById(place.dataset.figure);
  const figure = JSON.parse(source.textContent);
  figure.layout.font = {...figure.layout.font, family: getComputedStyle(document.body).fontFamily};
  place.replaceChildren();
  Plotly.newPlot(place, figure.data, figure.layout, {displayModeBar: false, responsive: true});
  // titles are wrapped for a narrow font; a wider one must not run off a phone
  const title = place.querySelector(".gtitle");
  const room = title ? (place.clientWidth - 4) / title.getBoundingClientRect().width : 1;
  if (room < 1) Plotly.relayout(place, {"title.font.size": Math.floor(10 * room * figure.layout.title.font.size) / 10});
}
