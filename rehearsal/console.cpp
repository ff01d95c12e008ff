#include "rehearsal/console.h"

#include <fmt/format.h>

#include "rehearsal/machine.h"
#include "rehearsal/shell/system_tree.h"

namespace cupel::rehearsal {
namespace {

struct Stage {
  double at;  // of the way from On to the login
  std::string text;
};

std::string firmware_lines(const Machine& machine) {
  const auto& hardware = machine.hardware();
  auto text = fmt::format(
      "\r\nVersion 2.22.1285. Copyright (C) 2024 AMI\r\n"
      "BIOS Date: 11/14/2023 Ver: {}\r\n{} {} S/N {}\r\n",
      hardware.version("HostBIOS_0", "01.01.03"), hardware.manufacturer, hardware.model,
      hardware.serial);
  if (!hardware.cpus.empty())
    text += fmt::format("{} x {}\r\n", hardware.cpus.size(), hardware.cpus[0].model);
  return text + fmt::format("Memory: {:.0f} GiB in {} modules\r\nInitializing PCI devices...\r\n",
                            hardware.memory_bytes() / 1073741824, hardware.dimms.size());
}

std::string loader_lines(const Machine& machine) {
  const auto& boot = machine.boot_override();
  const bool reported = boot.enabled != "Disabled" && boot.target != "None";
  return fmt::format(
      "Booting {}\r\nGNU GRUB  version 2.06\r\n\r\n"
      "  Booting `Debian GNU/Linux'\r\n\r\nLoading Linux {} ...\r\n"
      "Loading initial ramdisk ...\r\n",
      reported ? boot.target : "Hdd", kKernelRelease);
}

std::string kernel_lines(const Machine& machine) {
  auto text = fmt::format(
      "[    0.000000] Linux version {} (debian-kernel@lists.debian.org) {}\r\n"
      "[    0.000000] DMI: {} {}\r\n"
      "[    0.412345] smp: Brought up 2 nodes, {} CPUs\r\n",
      kKernelRelease, kKernelVersion, machine.hardware().manufacturer, machine.hardware().model,
      machine.hardware().threads());
  for (const auto& gpu : machine.hardware().gpus)
    text += fmt::format("[    9.{:03d}112] nvidia {}: enabling device (0000 -> 0002)\r\n",
                        gpu.index * 17 + 101, gpu.pci);
  return text + "[   12.801234] systemd[1]: Reached target Multi-User System.\r\n";
}

std::array<Stage, 3> stages_of(const Machine& machine) {
  return {
      {{0.0, firmware_lines(machine)}, {0.6, loader_lines(machine)}, {0.8, kernel_lines(machine)}}};
}

}  // namespace

Console::Console(const Machine& machine)
    : machine_{machine}, timer_{machine.executor(), machine.clock()} {}

void Console::hear(Machine::Event event) {
  switch (event) {
    case Machine::Event::started:
      continue_post(0);
      break;
    case Machine::Event::booted:
      timer_.cancel();
      kernel_began_ = machine_.clock().elapsed();  // as the node's uptime counts
      prompt();
      break;
    case Machine::Event::went_down:
      timer_.cancel();
      wrote("\r\n" + stamp() + " reboot: System halted\r\n");
      break;
    case Machine::Event::panicked:
      timer_.cancel();
      wrote("\r\n" + stamp() + " Kernel panic - not syncing: Fatal exception\r\n" + stamp() +
            " ---[ end Kernel panic - not syncing: Fatal exception ]---\r\n");
      break;
    case Machine::Event::powered:
      if (machine_.power() == Power::off) timer_.cancel();
      break;
    case Machine::Event::no_boot_device:
      timer_.cancel();
      wrote("\r\nBdsDxe: No bootable option or device was found.\r\n");
      break;
    case Machine::Event::refitted:
      break;
  }
}

void Console::continue_post(std::size_t stage) {
  const auto stages = stages_of(machine_);
  wrote(stages[stage].text);
  if (stage + 1 == stages.size()) kernel_began_ = machine_.clock().elapsed();
  const bool hangs = find_fault(machine_.faults(), FaultKind::boot_hangs) != nullptr;
  if (hangs || stage + 1 == stages.size()) return;
  const double part = stages[stage + 1].at - stages[stage].at;
  timer_.start(machine_.times().post * part, [this, stage] {
    if (machine_.power() == Power::on && !machine_.up()) continue_post(stage + 1);
  });
}

/// The kernel's time since it began: "[   14.220901]".
std::string Console::stamp() const {
  return fmt::format("[{:12.6f}]", (machine_.clock().elapsed() - kernel_began_).count());
}

void Console::prompt() {
  line_.clear();
  asks_password_ = false;
  wrote(fmt::format("\r\nDebian GNU/Linux 12 {} ttyS0\r\n\r\n{} login: ", machine_.host_name(),
                    machine_.host_name()));
}

void Console::type(std::string_view keys) {
  if (!machine_.up()) return;
  for (const char key : keys) press(key);
}

void Console::press(char key) {
  constexpr std::size_t kLongestLine = 256;
  constexpr char kBackspace = '\b', kDelete = '\x7f';
  if (key == '\n') return;
  if (key == kBackspace || key == kDelete) {
    if (line_.empty()) return;
    line_.pop_back();
    if (!asks_password_) wrote("\b \b");
    return;
  }
  if (key != '\r') {
    if (line_.size() < kLongestLine) line_ += key;
    if (!asks_password_) wrote(std::string_view{&key, 1});
    return;
  }
  wrote("\r\n");
  if (asks_password_) {
    wrote("\r\nLogin incorrect");
    prompt();
  } else if (line_.empty()) {
    wrote(machine_.host_name() + " login: ");
  } else {
    line_.clear();
    asks_password_ = true;
    wrote("Password: ");
  }
}

void Console::send_break() {
  if (machine_.up())
    wrote("\r\n" + stamp() + " sysrq: HELP : loglevel(0-9) reboot(b) crash(c)\r\n");
}

}  // namespace cupel::rehearsal
