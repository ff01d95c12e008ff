#pragma once
// A machine that boots what its BMC says, and the boot server that it reports to, in memory. It
// outlives sessions, steps and controllers. Its protocol is the boot server's; its ways to go wrong
// are those of real machines.
#include <map>
#include <string>
#include <vector>

#include "bmc/bmc.h"
#include "orchestrator/os/boot_door.h"
#include "orchestrator/ssh/ssh.h"

namespace cupel::test {

/// Host keys made for these tests, and their fingerprints as ssh-keygen -l prints them.
inline constexpr std::string_view kNewKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAhUJY3MrIMLRZEHhkmtX8+Cn07iuIIO6N1+iAXPZGsR";
inline constexpr std::string_view kNewPrint = "SHA256:1fseQ6YGHrtXiE/XgmxMUfnZ+CZfbdi2dkhlVZDzry4";

struct BootMachine {
  enum class Does { no_boot, ram, writing, written, home, old_system } does = Does::no_boot;
  using Kind = netboot::BootEvent::Kind;

  // What is wrong with it.
  bool ignores_override = false, keeps_override = false, has_http_uri = true;
  bool boots_old_system = false, boots_network_again = false;
  bool by_bios = false;  // was started by a BIOS, whose order of devices has the network first
  bool cannot_boot_disk = false;  // its BMC cannot be set so
  bool other_image = false;
  std::string fails_with{};         // a cause of its RAM system
  std::string refused_with{};       // words of the boot server
  std::string refusal{};            // its cause
  std::string home_refused_with{};  // words of the boot server
  std::string image_arch = "x86_64";
  int power_cut_while_writing = 0;           // so often
  bool comes_back_by_itself = false;         // then: it boots the network first
  bool says_hello_again = true;              // to a boot server that has none of it
  int boot_reads_that_fail = 0;              // of its BMC, since a boot
  int looks_in_vain = 0;                     // for what it says next
  std::vector<std::string> fetches_alone{};  // files; then nothing is heard of it
  boost::json::array removes{};              // boot entries
  std::string mirror_failure{};              // as it reports it
  std::string tpm_ek{};                      // SHA-256
  bool has_large_root = false;               // its RAM system has one to go on in
  int logins_too_early = 0;                  // before it has the keys
  std::string stands_in{};                   // a step of its installer that asks something
  bool image_has_bios_loader = false;
  std::string image_has_no_seed{};    // why
  std::string certificate_expires{};  // of the boot server, from its first boot on: how it is named

  // What it is.
  bmc::BootOverride boot{};
  std::string disc{};
  bool writes = false;  // its order says deploy or install
  int boots = 0, images_written = 0, ejected = 0;
  std::vector<std::string> revoked{};
  std::vector<std::string> tickets{};
  std::map<std::string, netboot::BootOrder> open{};
  std::vector<std::string> old_system_image{};  // sha256 of what runs before
  std::string installed{};                      // sha256 of what it was written with
  bool seeded = true;                           // what it was written with
  std::string installs{};                       // sha256 of the installer that it was given
  std::string host_name = "n1";
  std::string token{};  // whose URL it booted from
  std::string address = "10.0.2.11";
  bool greeted = false;  // the boot server has its hello

  void restart() {
    ++boots;
    const auto armed = boot;
    if (!keeps_override) boot = {};
    does = old_system_image.empty() && installed.empty() ? Does::no_boot : Does::old_system;
    if (ignores_override || armed.target == bmc::BootTarget::none) return;
    const auto& url = armed.target == bmc::BootTarget::virtual_cd ? disc : armed.uri;
    const bool asks_dhcp = armed.target == bmc::BootTarget::pxe ||
                           (armed.target == bmc::BootTarget::uefi_http && url.empty());
    // What DHCP points to has the ticket until its hello.
    for (const auto& [known, order] : open)
      if (asks_dhcp ? order.by_dhcp && !greeted : url.contains(known)) {
        does = Does::ram;
        token = known;
        writes = order.order.at("action") != "stay";
      }
  }

  /// What it does next, as the boot server hears of it.
  std::optional<netboot::BootEvent> go_on(const std::string& of) {
    if (of != token || !open.contains(of)) return std::nullopt;
    const boost::json::object keys{
        {"ssh_host_keys", boost::json::array{kNewKey}}, {"uefi", !by_bios}, {"tpm_ek", tpm_ek}};
    switch (does) {
      case Does::ram:
        if (!fetches_alone.empty()) return fetch();
        if (!refused_with.empty())
          return reported(Kind::refused, {{"cause", refusal}, {"text", refused_with}});
        does = writes ? Does::writing : Does::no_boot;
        greeted = true;
        return reported(Kind::hello, keys);
      case Does::writing:
        if (!greeted) {
          does = says_hello_again ? Does::ram : Does::no_boot;
          return reported(Kind::refused,
                          {{"cause", "no-hello"}, {"text", "n1 has not said hello"}});
        }
        return write();
      case Does::written:
        if (by_bios) {
          const auto armed = std::exchange(boot, keeps_override ? boot : bmc::BootOverride{});
          boots_network_again = armed.target != bmc::BootTarget::disk;
        }
        if (boots_network_again)
          return reported(Kind::refused, {{"cause", "booted-again"},
                                          {"text", "n1: it booted into the RAM system again"}});
        does = boots_old_system ? Does::old_system : Does::home;
        return std::nullopt;
      case Does::home:
        if (!home_refused_with.empty())
          return reported(Kind::refused, {{"cause", "late"}, {"text", home_refused_with}});
        if (!seeded) return std::nullopt;  // nothing asked it to report
        return reported(Kind::home, keys);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<netboot::BootEvent> fetch() {
    auto event = reported(Kind::fetched, {});
    event.file = fetches_alone.front();
    fetches_alone.erase(fetches_alone.begin());
    if (fetches_alone.empty()) does = Does::no_boot;
    return event;
  }
  std::optional<netboot::BootEvent> write() {
    if (!stands_in.empty()) {
      does = Does::no_boot;
      return reported(Kind::progress, {{"state", stands_in}});
    }
    if (by_bios && !open.at(token).order.contains("bios")) fails_with = "no-efi-variables";
    if (!fails_with.empty()) {
      does = Does::no_boot;
      return reported(Kind::failed, {{"cause", fails_with}, {"text", "as the node says"}});
    }
    if (power_cut_while_writing > 0) {
      --power_cut_while_writing;
      // Its override was for one boot, and its disk has no partition table yet.
      does = comes_back_by_itself ? Does::ram : Does::no_boot;
      return reported(Kind::progress, {{"state", "writing"}, {"bytes", 1}, {"of", 3}});
    }
    ++images_written;
    const auto* image = open.at(token).order.if_contains("image");
    installed = image != nullptr ? std::string{image->at("sha256").as_string()} : installs;
    const auto* seed = open.at(token).order.if_contains("seed");  // an installer's has none
    seeded = seed == nullptr || seed->as_bool();
    does = Does::written;
    boost::json::object done{{"disk", {{"serial", "DISK1"}}}, {"removed_entries", removes}};
    if (by_bios) done["entry"] = "";
    if (!mirror_failure.empty()) done["mirror_failure"] = mirror_failure;
    return reported(Kind::done, std::move(done));
  }
  netboot::BootEvent reported(Kind kind, boost::json::object body) const {
    netboot::BootEvent event;
    event.kind = kind;
    event.peer = address;
    event.body = std::move(body);
    return event;
  }
};

class BootBmc final : public bmc::Bmc {
 public:
  explicit BootBmc(BootMachine& machine) {
    power.state = [](Deadline) -> Task<Result<bmc::Sourced<bmc::PowerState>>> {
      co_return bmc::Sourced{bmc::PowerState::on};
    };
    power.allowed_resets = [](Deadline) -> Task<Result<std::vector<bmc::ResetType>>> {
      co_return std::vector{bmc::ResetType::force_restart};
    };
    power.reset = [&machine](bmc::ResetType, Deadline) -> Task<Result<bmc::Protocol>> {
      machine.restart();
      co_return bmc::Protocol::redfish;
    };
    boot.read = [&machine](Deadline) -> Task<Result<bmc::Sourced<bmc::BootOverride>>> {
      if (machine.boots > 0 && machine.boot_reads_that_fail > 0) {
        --machine.boot_reads_that_fail;
        co_return Error{Code::kTimeout, "the BMC does not answer"};
      }
      co_return bmc::Sourced{machine.boot};
    };
    boot.set = [&machine](bmc::BootOverride requested, Deadline) -> Task<Result<bmc::Protocol>> {
      if (!requested.uri.empty() && !machine.has_http_uri)
        co_return Error{Code::kUnsupported, "this BMC cannot tell the machine an URI"};
      if (requested.target == bmc::BootTarget::disk && machine.cannot_boot_disk)
        co_return Error{Code::kUnsupported, "this BMC has no such boot device"};
      machine.boot = std::move(requested);
      co_return bmc::Protocol::redfish;
    };
    media.insert = [&machine](std::string url, Deadline) -> Task<Result<bmc::Protocol>> {
      machine.disc = std::move(url);
      co_return bmc::Protocol::redfish;
    };
    media.eject = [&machine](Deadline) -> Task<Result<bmc::Protocol>> {
      if (!machine.disc.empty()) ++machine.ejected;
      machine.disc.clear();
      co_return bmc::Protocol::redfish;
    };
  }
  Task<void> log_out() override { co_return; }
};

/// What its system says over SSH.
class BootSession final : public ssh::Session {
 public:
  /// `first_boot`: what each wait for cloud-init prints, the last one again and again.
  explicit BootSession(std::string says, std::vector<std::string>& first_boot)
      : says_{std::move(says)}, first_boot_{first_boot} {}
  Task<Result<ssh::CommandOutcome>> run(std::string command, std::string input, ssh::Sink sink,
                                        Deadline) override {
    const bool waits = (command + input).contains("cloud-init status --wait");
    sink(ssh::Stream::out, waits ? first_boot_.front() : says_);
    if (waits && first_boot_.size() > 1) first_boot_.erase(first_boot_.begin());
    co_return ssh::CommandOutcome{};
  }

 private:
  std::string says_;
  std::vector<std::string>& first_boot_;
};

/// The boot server and the image store that this machine sees.
inline std::shared_ptr<os::BootInterface> boot_door(BootMachine& machine,
                                                    const std::string& digest) {
  auto door = std::make_shared<os::BootInterface>();
  door->ram_system = [&machine](std::string name) -> Result<os::BootImage> {
    os::BootImage image{.name = std::move(name), .arch = "x86_64"};
    image.files["ram.efi"] = {"/images/ram/ram.efi", std::string(64, '1'), 20};
    if (machine.has_large_root)
      image.files["root.squashfs"] = {"/images/ram/root.squashfs", std::string(64, '2'), 30};
    return image;
  };
  door->os_image = [digest, &machine](std::string name) -> Result<os::BootImage> {
    os::BootImage image{.name = std::move(name), .arch = machine.image_arch, .digest = digest};
    if (image.name.ends_with("-installer")) {
      machine.installs = digest;
      image.mirror = "http://10.0.0.1/debian";
      image.files["ram.efi"] = {"/images/installer/ram.efi", digest, 20};
      return image;
    }
    image.files["image"] = {"/images/disk/disk.raw.zst", digest, 1000};
    image.content_size = 4000;
    image.compression = "zstd";
    image.efi = "\\EFI\\debian\\shimx64.efi";
    image.bios = machine.image_has_bios_loader;
    image.no_seed = machine.image_has_no_seed;
    return image;
  };
  door->draw = [&machine]() -> Result<netboot::Ticket> {
    const auto token = "ticket" + std::to_string(machine.tickets.size());
    machine.tickets.push_back(token);
    return netboot::Ticket{token, "http://10.0.0.1/boot/" + token + "/", "http://10.0.0.1/home/x"};
  };
  door->open = [&machine](const netboot::Ticket& ticket, netboot::BootOrder order,
                          netboot::BootStage) -> Result<void> {
    machine.greeted = order.greeted && order.greeted->to_string() == machine.address;
    machine.open[ticket.token] = std::move(order);
    return ok();
  };
  door->check_certificate = [&machine]() -> Result<void> {
    if (machine.boots == 0 || machine.certificate_expires.empty()) return ok();
    return Error{Code::kInvalid, machine.certificate_expires};
  };
  door->revoke = [&machine](const std::string& token) {
    machine.open.erase(token);
    machine.revoked.push_back(token);
  };
  door->next = [&machine](std::string token,
                          Deadline deadline) -> Task<Result<netboot::BootEvent>> {
    if (machine.looks_in_vain > 0) {
      --machine.looks_in_vain;
      co_return Error{Code::kTimeout, "nothing was heard yet"};
    }
    if (auto event = machine.go_on(token)) co_return *std::move(event);
    if (machine.does == BootMachine::Does::home || machine.does == BootMachine::Does::ram)
      if (auto event = machine.go_on(token)) co_return *std::move(event);
    CO_TRY(co_await pause_for(deadline.left()));
    co_return Error{Code::kTimeout, "nothing was heard"};
  };
  return door;
}

}  // namespace cupel::test
