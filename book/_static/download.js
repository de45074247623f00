// The theme opens the sources of a page in a new tab, where an .ipynb shows as JSON.
document.addEventListener("DOMContentLoaded", () => {
  const links = "a.btn-download-notebook-button, a.btn-download-source-button";
  for (const link of document.querySelectorAll(links)) {
    link.setAttribute("download", "");
    link.removeAttribute("target");
  }
});
