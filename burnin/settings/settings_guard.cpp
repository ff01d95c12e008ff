#include "burnin/settings/settings_guard.h"

#include <string_view>

namespace cupel::burnin::settings_guard {
namespace {

/// A run that is cancelled, or whose controller never comes back, leaves nobody to put it back. The
/// timer lies on the disk, since the node may be restarted meanwhile; it looks again until all of
/// it is back. OnBootSec= that is over fires at once, and finds that nothing is due. Source:
/// systemd.timer(5).
constexpr std::string_view kGuard = R"sh(
echo "cupel_by=\${1:-hand} CUPEL_SETTINGS='$state' CUPEL_UNITS='$units' CUPEL_SYS='$sys' CUPEL_PROC='$proc' PATH='$PATH'" > "$state/restore.sh"
cat >> "$state/restore.sh" <<'CUPEL_END_OF_SCRIPT'
RESTORE
CUPEL_END_OF_SCRIPT
now=$(date +%s)
echo "$now $((now + SECONDS))" > "$state/until"
rm -f "$units/cupel-settings.timer" "$units/cupel-settings.service"
guard_on_disk() {
  {
    echo '[Unit]'
    echo 'Description=Cupel: put back the settings of a run that did not'
    echo '[Service]'
    echo 'Type=oneshot'
    echo "ExecStart=/bin/sh $state/restore.sh timer"
  } 2>/dev/null > "$units/cupel-settings.service" || return 1
  {
    echo '[Timer]'
    echo 'OnActiveSec=SECONDS'
    echo 'OnBootSec=2min'
    echo 'OnUnitInactiveSec=10min'
    echo 'AccuracySec=1s'
    echo '[Install]'
    echo 'WantedBy=timers.target'
  } 2>/dev/null > "$units/cupel-settings.timer" || return 1
  systemctl daemon-reload >/dev/null 2>&1
  systemctl enable --now cupel-settings.timer >/dev/null 2>&1 && systemctl is-active --quiet cupel-settings.timer >/dev/null 2>&1
}
if [ -d "$units" ] && [ -z "$(cupel_unsafe "$units")" ] && command -v systemctl >/dev/null 2>&1 && guard_on_disk; then
  echo 'cupel-guard: SECONDS'
else
  rm -f "$units/cupel-settings.timer" "$units/cupel-settings.service"
  if command -v systemd-run >/dev/null 2>&1; then
    if systemd-run --quiet --unit=cupel-settings --on-active=SECONDS /bin/sh "$state/restore.sh" timer >/dev/null 2>&1; then echo 'cupel-guard: SECONDS, unless it is restarted'; fi
  fi
fi
)sh";

std::string filled(std::string_view text, std::string_view name, std::string_view value) {
  std::string done;
  for (auto at = text.find(name); at != text.npos; at = text.find(name)) {
    done += text.substr(0, at);
    done += value;
    text.remove_prefix(at + name.size());
  }
  return done + std::string{text};
}

}  // namespace

std::string script(const std::string& restore, long at_most_seconds) {
  return filled(filled(kGuard, "SECONDS", std::to_string(at_most_seconds)), "RESTORE", restore);
}

}  // namespace cupel::burnin::settings_guard
