/** Formats a duration, at least 0.1 s: `0.4 s`, `12 s`, `3 min 20 s`, `1 h 5 min`. */
export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1000;
  if (seconds < 9.95) return `${Math.max(0.1, seconds).toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return twoUnits(whole, "min", "s");
  return twoUnits(Math.round(whole / 60), "h", "min");
}

function twoUnits(amount: number, unit: string, sixtieth: string): string {
  const rest = amount % 60;
  return `${Math.floor(amount / 60)} ${unit}${rest === 0 ? "" : ` ${rest} ${sixtieth}`}`;
}
