// What somebody has set for themselves. It is kept in this browser, and is sent nowhere.

const PREFIX = "karmada-lens-";
const values = new Map();  // What holds until the page is closed where the browser keeps nothing.

export function isSet(name) {
  if (!values.has(name)) {
    let kept = null;
    try {
      kept = localStorage.getItem(PREFIX + name);
    } catch { /* The browser is told to keep nothing. */ }
    values.set(name, kept === "yes");
  }
  return values.get(name);
}

export function set(name, isOn) {
  values.set(name, isOn);
  try {
    if (isOn) localStorage.setItem(PREFIX + name, "yes");
    else localStorage.removeItem(PREFIX + name);
  } catch { /* See above. */ }
}
