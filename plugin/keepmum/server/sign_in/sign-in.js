// Signs in with a key, which is sent once and not kept, and chooses the project that the dashboard shows.
const TAB = "keepmum.tab", THEME = localStorage.getItem("keepmum.theme");
const part = id => document.getElementById(id);
if (THEME === "dark" || THEME === "light") document.documentElement.dataset.theme = THEME;

async function send(path, body) {
  const headers = { "Content-Type": "application/json", "X-Keepmum-Tab": sessionStorage.getItem(TAB) || "" };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), credentials: "same-origin" });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said;
}

function show(id) {
  for (const form of ["sign-in", "choose"]) part(form).hidden = form !== id;
  part(id).querySelector("input").focus();
}

function choose({ project, projects, every }) {
  part("project").value = project;
  part("project").required = !every;
  part("projects").replaceChildren(...projects.map(name => new Option(name, name)));
  part("which").textContent = every ? "Empty: the memories of all projects." : `Your key has: ${projects.join(", ")}`;
  show("choose");
}

function on(id, event, act) {
  part(id).addEventListener(event, async happened => {
    happened.preventDefault();
    part("said").textContent = "";
    await act().catch(error => { part("said").textContent = error.message; });
  });
}

on("sign-in", "submit", async () => {
  const field = part("key"), key = field.value.trim();
  field.value = "";
  const opened = await send("./session", { key });
  sessionStorage.setItem(TAB, opened.tab);
  if (opened.every || opened.projects.length > 1) choose(opened);
  else location.replace("./");
});
on("choose", "submit", async () => {
  await send("./project", { project: part("project").value.trim() });
  location.replace("./");
});
on("leave", "click", async () => {
  await send("./leave", {});
  sessionStorage.removeItem(TAB);
  show("sign-in");
});
if (sessionStorage.getItem(TAB)) send("./projects", {}).then(choose, () => show("sign-in"));
else show("sign-in");
