#pragma once
// A node whose nvidia-smi keeps its GPUs' settings in files, with as much of systemd as the stages
// settings and settings-restore ask for, and the program itself.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "burnin/settings/settings.h"
#include "tests/burnin/tools.h"

namespace cupel::agent {

inline constexpr const char* kSmi = R"sh(#!/bin/sh
cd "$(dirname "$0")/gpus" || exit 1
for word in "$@"; do
  case $word in
    --query-compute-apps=*) cat ../busy 2>/dev/null; exit 0 ;;
  esac
done
which=
if [ "$1" = -i ]; then which=$2; shift 2; fi
gpu() { echo "$1, GPU-000$1, $(cat $1.pm), $(cat $1.pl), 200.00, 700.00, $(cat $1.ecc), Disabled, 1980"; }
case $1 in
  --query-gpu=index,uuid)
    if [ -e ../sick ]; then echo "0, GPU-0000"; echo "No handle for GPU 1: Unknown Error"; exit 15; fi
    for g in 0 1; do echo "$g, GPU-000$g"; done ;;
  --query-gpu=index,uuid,*) for g in 0 1; do gpu $g; done ;;
  --query-gpu=persistence_mode) cat $which.pm ;;
  --query-gpu=power.limit) cat $which.pl ;;
  --query-gpu=ecc.mode.pending) cat $which.ecc ;;
  --query-gpu=ecc.mode.current) if [ -e ../current ]; then cat ../current; else echo Enabled; fi ;;
  --query-gpu=clocks.applications.memory,clocks.applications.graphics) cat $which.ac ;;
  -ac)
    if [ -e ../no-clocks ]; then echo "Setting applications clocks is not supported for GPU 0000$which"; exit 0; fi
    echo "$2" | sed 's/,/, /' > $which.ac ;;
  -pm) if [ "$2" = 1 ]; then echo Enabled > $which.pm; else echo Disabled > $which.pm; fi ;;
  -pl)
    if [ -e ../dies ] && [ "$which" = 1 ]; then rm ../dies; kill -9 $PPID; exit 1; fi
    if [ -e ../stuck ]; then echo "Insufficient Permissions"; exit 4; fi
    printf '%.2f\n' "$2" > $which.pl ;;
  -e) if [ "$2" = 1 ]; then echo Enabled > $which.ecc; else echo Disabled > $which.ecc; fi ;;
  -lgc) echo "$2" > $which.clocks ;;
  -rgc) rm -f $which.clocks ;;
  *) echo "unknown: $*"; exit 2 ;;
esac
)sh";

/// As much of systemd as the stages ask for. What it starts by itself a test starts: fire().
inline constexpr const char* kSystemctl = R"sh(#!/bin/sh
cd "$(dirname "$0")" || exit 1
unit=../node/etc/systemd/system/cupel-settings
case "$*" in
  'is-active irqbalance') cat irqbalance 2>/dev/null || echo inactive ;;
  'stop irqbalance') echo inactive > irqbalance ;;
  'start irqbalance') echo active > irqbalance ;;
  daemon-reload | 'stop cupel-settings.service') ;;
  'enable --now cupel-settings.timer')
    if [ -e no-timers ]; then echo 'Failed to enable unit: Read-only file system' >&2; exit 1; fi
    grep -q '^WantedBy=timers.target$' "$unit.timer" && [ -e "$unit.service" ] || exit 1
    touch enabled active ;;
  'is-active --quiet cupel-settings.timer') [ -e active ] ;;
  'disable cupel-settings.timer') rm -f enabled ;;
  'stop cupel-settings.timer'*) rm -f active ;;
  *) exit 1 ;;
esac
)sh";

inline constexpr const char* kSystemdRun = R"sh(#!/bin/sh
cd "$(dirname "$0")" || exit 1
if [ ! -e transient ]; then exit 1; fi
for word in "$@"; do echo "$word"; done > transient
)sh";

class SettingsStage : public ::testing::Test {
 protected:
  using Findings = burnin::Findings;
  using Output = burnin::Output;
  using Parameters = burnin::Parameters;

  SettingsStage() {
    std::filesystem::create_directories(at("tools/gpus"));
    std::filesystem::create_directories(at("node/var/lib"));
    boot("first");
    // No timer of the machine that runs the test is touched.
    add_tool("nvidia-smi", kSmi);
    add_tool("systemctl", kSystemctl);
    add_tool("systemd-run", kSystemdRun);
    add_tool("cupel-node", "#!/bin/sh\nexec " NODE_BINARY " \"$@\" --root " + at("node") + "\n");
    for (const auto* gpu : {"0", "1"}) {
      write(std::string{"tools/gpus/"} + gpu + ".pm", "Disabled\n");
      write(std::string{"tools/gpus/"} + gpu + ".pl", "700.00\n");
      write(std::string{"tools/gpus/"} + gpu + ".ecc", "Enabled\n");
      write(std::string{"tools/gpus/"} + gpu + ".ac", "1593, 1275\n");
    }
  }

  std::string at(const std::string& name) const { return (folder.path() / name).string(); }
  std::string state(const std::string& name) const { return "node/var/lib/cupel/settings/" + name; }
  std::string unit(const std::string& kind) const {
    return "node/etc/systemd/system/cupel-settings." + kind;
  }
  bool there(const std::string& name) const { return std::filesystem::exists(at(name)); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path{at(name)}.parent_path());
    std::ofstream{at(name)} << text;
  }
  void add_tool(const std::string& name, const std::string& text) const {
    write("tools/" + name, text);
    std::filesystem::permissions(at("tools/" + name), std::filesystem::perms::owner_all);
  }
  void boot(const std::string& id) const {
    write("node/proc/sys/kernel/random/boot_id", id + "\n");
  }
  std::string read(const std::string& name) const {
    const auto text = read_file(at(name), 1u << 20);
    return text ? *text : "";
  }
  std::string limit(const char* gpu) const {
    return read(std::string{"tools/gpus/"} + gpu + ".pl");
  }

  Output run_here(const std::string& script) const {
    return burnin::run_script(script, "PATH=" + at("tools") + ":$PATH\nexport PATH\n");
  }
  Output run(std::string_view name, const Parameters& with = {}) const {
    const auto job = burnin::prepared(name, with);
    if (!job) return {job.error().what, "", -1};
    return run_here(job->script);
  }
  Output ordered(const std::string& stage, const std::string& order) const {
    return run_here("printf '%s' " + shell_quoted(order) + " | cupel-node stage " + stage + "\n");
  }
  Result<Findings> found(std::string_view name, const Output& output) const {
    return burnin::parsed(name, output);
  }
  Result<Findings> set(const Parameters& with) const {
    return found("settings", run("settings", with));
  }
  Result<Findings> put_back() const { return found("settings-restore", run("settings-restore")); }

  test::TemporaryFolder folder{};
};

}  // namespace cupel::agent
