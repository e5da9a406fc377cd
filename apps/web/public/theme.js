// Runs before the first paint, so that a dark theme does not flash light.
try {
  const theme = localStorage.getItem('vantage.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be blocked; the system preference applies.
}
