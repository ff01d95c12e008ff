# "CUPEL [12.34] what", on the console.
say() { echo "CUPEL [$(cut -d' ' -f1 /proc/uptime)] $*"; }

# KEY: the value of KEY=VALUE on the kernel's command line.
argument() {
  for each in $(cat /proc/cmdline); do
    case $each in "$1"=*) echo "${each#*=}"; return ;; esac
  done
}
