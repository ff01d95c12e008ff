#include "tests/support/qemu/qemu_rack.h"

#include <fmt/format.h>

#include <boost/asio/ip/address_v4.hpp>

#include "inventory/load_profile.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using rehearsal::Hardware;
using rehearsal::QemuMachine;

Hardware hardware_of(const std::string& node) {
  std::vector<inventory::Problem> problems;
  const auto profile = inventory::ProfileSource{"/nonexistent"}.load("dgx-h100", problems);
  return rehearsal::make_hardware(profile ? *profile : inventory::Profile{}, node, 1, {});
}

QemuMachine named(QemuMachine machine, const fs::path& folder, int number) {
  if (machine.folder.empty()) machine.folder = folder / QemuRack::name(number);
  fs::create_directories(machine.folder);
  if (machine.serial.empty()) machine.serial = fmt::format("CUPEL-{:04}", number);
  if (machine.uuid.empty()) machine.uuid = fmt::format("5c0d3a70-0000-4000-8000-{:012}", number);
  if (!machine.nic) machine.nic.emplace();
  if (machine.nic->tap.empty()) machine.nic->tap = NetworkBed::tap(number - 1);
  if (machine.nic->mac.empty()) machine.nic->mac = fmt::format("52:54:00:aa:00:{:02x}", number);
  return machine;
}

/// Adds what is no escape sequence; one that is not whole yet stays in `text`, for its rest.
void take_plain(std::string& text, std::string& plain) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      if (text[i] != '\r' && text[i] != '\0') plain += text[i];
      continue;
    }
    auto end = i + 1;
    if (end < text.size() && text[end] == '[')
      for (++end; end < text.size() && (text[end] < '@' || text[end] > '~');) ++end;
    if (end >= text.size()) {
      text.erase(0, i);
      return;
    }
    i = end;
  }
  text.clear();
}

}  // namespace

std::string QemuRack::missing(QemuMachine::Arch arch) {
  if (!NetworkBed::possible())
    return "no network namespaces: needs root, /dev/net/tun and iproute2";
  const QemuMachine machine{.firmware = QemuMachine::Firmware::uefi, .arch = arch};
  for (const auto& file : {rehearsal::program_of(machine), rehearsal::firmware_file(machine),
                           std::string{"/usr/sbin/dnsmasq"}, std::string{"/usr/bin/python3"}})
    if (!fs::exists(file)) return file + " is not installed";
  return {};
}

QemuRack::One::One(asio::any_io_executor executor, const rehearsal::Clock& clock,
                   QemuMachine machine, int number, const rehearsal::BmcSpec& spec)
    : system{executor, clock, hardware_of(name(number)), std::move(machine)},
      https{executor,
            system,
            {kUser, kPassword},
            *rehearsal::make_certificate(name(number) + "-bmc", bmc_address(number)),
            {asio::ip::make_address_v4(bmc_address(number)), 443},
            spec},
      ipmi{executor, system, kUser, kPassword,
           rehearsal::ipmi::Peer{asio::ip::make_address_v4(bmc_address(number)), 623}} {}

QemuRack::QemuRack(std::vector<QemuMachine> machines, rehearsal::BmcSpec spec)
    : bed_{static_cast<int>(machines.size())} {
  for (auto& machine : machines) {
    const auto number = count() + 1;
    auto made = named(std::move(machine), folder_.path(), number);
    machines_.push_back(
        std::make_unique<One>(io_.get_executor(), clock_, std::move(made), number, spec));
    auto& added = *machines_.back();
    added.system.on_written = [this, &added](std::string_view text) {
      const std::lock_guard lock{mutex_};
      added.unread += text;
      take_plain(added.unread, added.shown);
      changed_.notify_all();
    };
    added.system.subscribe([this, &added](rehearsal::ManagedSystem::Event) {
      const std::lock_guard lock{mutex_};
      added.power = added.system.power();
      changed_.notify_all();
    });
    for (const auto& listens : {added.https.listen(), added.ipmi.listen()})
      if (!listens) throw std::runtime_error{listens.error().what};
  }
  thread_ = std::thread{[this] { io_.run(); }};
}

QemuRack::~QemuRack() {
  asio::post(io_, [this] {
    for (auto& each : machines_) {
      each->https.stop();
      each->ipmi.stop();
      each->system.press(rehearsal::Reset::force_off);
    }
    work_.reset();
  });
  thread_.join();  // with the processes, which it waits for
}

rehearsal::QemuSystem& QemuRack::system(int number) { return one(number).system; }

const QemuMachine& QemuRack::machine(int number) const {
  return machines_[static_cast<std::size_t>(number - 1)]->system.machine();
}

std::vector<std::string> QemuRack::dhcp_hosts() const {
  std::vector<std::string> words;
  for (int number = 1; number <= count(); ++number)
    words.push_back("--dhcp-host=" + machine(number).nic->mac + "," + address(number));
  return words;
}

void QemuRack::press(int number, rehearsal::Reset reset) {
  on(number, [reset](rehearsal::QemuSystem& system) { return system.press(reset); });
}

bool QemuRack::comes_to(int number, rehearsal::Power power, std::chrono::seconds patience) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, patience, [&] { return one(number).power == power; });
}

bool QemuRack::shows(int number, const std::string& text, std::chrono::seconds patience) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, patience,
                           [&] { return one(number).shown.find(text) != std::string::npos; });
}

std::string QemuRack::shown(int number) {
  const std::lock_guard lock{mutex_};
  return one(number).shown;
}

void QemuRack::forget(int number) {
  const std::lock_guard lock{mutex_};
  one(number).shown.clear();
}

}  // namespace cupel::testing
