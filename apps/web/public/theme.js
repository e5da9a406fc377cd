// Before the first paint: whoever chose dark sees no flash of light.
try {
  const theme = localStorage.getItem('vantage.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; then the system's choice holds.
}
