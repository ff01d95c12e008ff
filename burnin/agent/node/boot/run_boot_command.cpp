#include <sys/reboot.h>
#include <unistd.h>

#include <array>

#include "burnin/agent/common/options.h"
#include "burnin/agent/node/boot/disk_choice.h"
#include "burnin/agent/node/boot/disks.h"
#include "burnin/agent/node/boot/hello.h"
#include "burnin/agent/node/boot/report.h"
#include "burnin/agent/node/boot/run_boot.h"

namespace cupel::agent::boot {
namespace {

using Kind = Choice::Kind;

constexpr std::array kRunChoices{
    Choice{
        .name = "--url", .kind = Kind::kText, .help = "of the ticket, where none is to be found"},
};

constexpr std::array kDiskChoices{
    Choice{.name = "--root", .kind = Kind::kText, .fallback = "/", .help = "where /sys lies"},
};

constexpr std::array kChooseChoices{
    Choice{.name = "--serial", .kind = Kind::kText, .help = "of the disk"},
    Choice{.name = "--wipe",
           .kind = Kind::kText,
           .help = "serial number of a disk that may hold something"},
    Choice{.name = "--root", .kind = Kind::kText, .fallback = "/", .help = "where /sys lies"},
};

void restart_machine() {
  ::sync();
  ::reboot(RB_AUTOBOOT);
}

int misunderstood(const std::string& why) {
  write_all(2, "cupel-node boot: " + why + "\n");
  return kUsage;
}

}  // namespace

int run_boot_command(Arguments arguments) {
  const auto options = Options::read(kRunChoices, arguments);
  if (!options) return misunderstood(options.error().what);
  BootInterfaces doors;
  doors.server.url = options->text("--url");
  doors.restart = restart_machine;
  doors.console = [](const std::string& line) { write_all(STDOUT_FILENO, line + "\n"); };
  return run_boot(doors);
}

int disks_command(Arguments arguments) {
  const auto options = Options::read(kDiskChoices, arguments);
  if (!options) return misunderstood(options.error().what);
  for (const auto& disk : read_disks(Tree{options->text("--root")})) {
    JsonLine line{"disk"};
    add_disk(line, disk);
    if (!print(line)) return kCannotWrite;
  }
  return kDone;
}

int hello_command(Arguments arguments) {
  const auto options = Options::read(kDiskChoices, arguments);
  if (!options) return misunderstood(options.error().what);
  const Tree tree{options->text("--root")};
  const auto body = hello(tree, {{}, "cmdline"}, read_disks(tree), run_tool);
  return write_all(STDOUT_FILENO, body + "\n") ? kDone : kCannotWrite;
}

int choose_command(Arguments arguments) {
  const auto options = Options::read(kChooseChoices, arguments);
  if (!options) return misunderstood(options.error().what);
  const auto disks = read_disks(Tree{options->text("--root")});
  const auto chosen =
      choose_disk(disks, {.serial = options->text("--serial")}, options->text("--wipe"));
  if (!chosen)
    return write_all(STDOUT_FILENO, failure_line(chosen.error()).text()) ? kFoundOutNothing
                                                                         : kCannotWrite;
  JsonLine line;
  line.object("disk");
  add_disk(line, *chosen);
  return write_all(STDOUT_FILENO, line.text()) ? kDone : kCannotWrite;
}

}  // namespace cupel::agent::boot
