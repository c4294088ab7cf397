"use strict";
// Follows a run that is under way.
const byId = id => document.getElementById(id);
const source = new EventSource(location.pathname + "/events");
source.onmessage = message => {
  const now = JSON.parse(message.data);
  for (const name of ["judged", "begun", "bytes", "current"]) byId(name).textContent = now[name];
  byId("tail").textContent = now.tail.join("\n");
  if (now.done) {
    source.close();
    location.replace(location.pathname.replace("/live/", "/run/"));
  }
};
source.onerror = () => { byId("note").textContent = "The server does not answer; trying again."; };
source.onopen = () => { byId("note").textContent = "Under way; this page follows it."; };
