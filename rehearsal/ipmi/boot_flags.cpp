#include "rehearsal/ipmi/boot_flags.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kValidFlag = 0x80, kPersistent = 0x40, kEfi = 0x20;
constexpr std::uint8_t kDoNotExpire = 0x08;

struct DeviceRow {
  std::uint8_t number;
  std::string_view target;
};
/// The first of a target's rows is what it reads as.
constexpr std::array<DeviceRow, 9> kDevices{{{0x0, "None"},
                                             {0x1, "Pxe"},
                                             {0x2, "Hdd"},
                                             {0x5, "Cd"},
                                             {0x6, "BiosSetup"},
                                             {0xF, "Usb"},
                                             {0x8, "Cd"},
                                             {0x7, "Usb"},
                                             {0x3, "Hdd"}}};

}  // namespace

BootFlags::Flags BootFlags::flags(Moment now) {
  expire(now, false);
  const auto& boot = machine_.boot_override();
  if (reported_ && made_ == boot) return *reported_;
  reported_.reset();
  if (boot.enabled == "Disabled") return {};
  std::uint8_t device = 0;
  for (const auto& row : kDevices)
    if (row.target == boot.target) {
      device = row.number;
      break;
    }
  const int first = kValidFlag | (boot.enabled == "Continuous" ? kPersistent : 0) |
                    (boot.mode == "UEFI" ? kEfi : 0);
  return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(device << 2), 0, 0, 0};
}

bool BootFlags::set(const Flags& flags, Moment now) {
  const auto device = flags[1] >> 2 & 0x0F;
  const auto row = std::ranges::find(kDevices, device, &DeviceRow::number);
  if (row == kDevices.end()) return false;
  BootOverride boot;
  if ((flags[0] & kValidFlag) != 0 && device != 0) {
    boot.enabled = (flags[0] & kPersistent) != 0 ? "Continuous" : "Once";
    boot.target = row->target;
    boot.mode = (flags[0] & kEfi) != 0 ? "UEFI" : "Legacy";
  }
  machine_.set_boot_override(boot);
  reported_ = flags;
  made_ = boot;
  until_.reset();
  const bool expires = boot.enabled == "Once" && (keep_valid & kDoNotExpire) == 0;
  if (expires) until_ = now + kValid;
  return true;
}

void BootFlags::restart_countdown(Moment now) {
  expire(now, false);
  if (until_) until_ = now + kValid;
}

void BootFlags::expire(Moment now, bool at_start) {
  const bool still_ours = until_ && made_ == machine_.boot_override();
  if (!still_ours) {
    until_.reset();
    return;
  }
  const bool being_used = machine_.power() == Power::on && !machine_.up() && !at_start;
  if (now < *until_ || being_used) return;
  until_.reset();
  reported_.reset();
  machine_.set_boot_override({});
}

}  // namespace cupel::rehearsal::ipmi
