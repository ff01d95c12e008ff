# Drivers of what is there. A bus's driver finds more, so until a round finds nothing new. A file system's driver is
# loaded when it is mounted: the kernel starts /sbin/modprobe.
load_modules() {
  : > /run/cupel/modalias
  for round in 1 2 3 4; do
    find /sys/devices -name modalias -exec cat {} + 2> /dev/null | sort -u > /run/cupel/found
    sort /run/cupel/found /run/cupel/modalias | uniq -u > /run/cupel/new
    [ -s /run/cupel/new ] || break
    mv /run/cupel/found /run/cupel/modalias
    xargs modprobe -a -q < /run/cupel/new 2> /dev/null
  done
  # A disk on USB may come later.
  modprobe -a -q sd_mod sr_mod 2> /dev/null
}
