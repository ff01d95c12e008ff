#pragma once
// One boot of one machine into the RAM system or a vendor's installer, by the ways that it may be
// booted, and what follows: the OS on its disk and the installed system's first report. Journalled
// before each act, and found again after a crash. Knows no step and no engine.
#include "bmc/bmc.h"
#include "bmc/power.h"
#include "inventory/boot.h"
#include "orchestrator/os/boot_door.h"
#include "orchestrator/os/boot_handle.h"
#include "orchestrator/os/console_cause.h"

namespace cupel::os {

/// How long is waited for what.
struct BootPatience {
  std::chrono::milliseconds fetch{900'000};    // from power-on to the first byte
  std::chrono::milliseconds hello{300'000};    // from the last byte fetched
  std::chrono::milliseconds silence{600'000};  // while the image is written
  std::chrono::milliseconds home{900'000};     // from the end of the write
  /// What a machine that was at work when the controller died has to be heard of again.
  std::chrono::milliseconds again{120'000};
  std::chrono::milliseconds look{5'000};  // how often the console is looked at
};

/// A system that answers SSH, and is not the RAM system that installed it.
struct FoundSystem {
  std::string host_key{};  // fingerprint
  std::string note{};      // what is odd about it; empty: nothing
};

struct BootInterfaces {
  bmc::Bmc& bmc;
  BootInterface& server;
  std::function<Result<netboot::BootOrder>(const netboot::Ticket&)> order{};
  /// Before the handle that names it. Errors: kStorage.
  std::function<Result<void>(const netboot::Ticket&)> keep_ticket{};
  std::function<Task<Result<void>>(std::string handle)> keep{};
  std::function<void(std::string)> waiting{};
  /// Before a restart: what the console says from then on is the new boot's.
  std::function<void()> mark_console{};
  std::function<std::string()> console{};  // since then; empty: nothing, or nobody records it
  /// Whether the system answers that was there before, with the host key that was pinned for it.
  std::function<Task<bool>(Deadline)> old_system_answers{};
  /// One look at a system that nothing reported to report; `of_ram`: fingerprint of the RAM
  /// system's host key. Nothing: none answers yet. Empty: the image has a seed, and its system
  /// reports.
  std::function<Task<std::optional<FoundSystem>>(std::string of_ram, Deadline)> look_for_system{};
  std::vector<inventory::BootWay> ways{};
  std::string digest{};    // of the image that is installed; empty: the RAM system stays up
  bool installer = false;  // what is booted is a vendor's installer, and no RAM system
  bool bios = false;       // a BIOS starts the image that is installed as well
  BootPatience patience{};
  bmc::Pace pace{};  // of a restart of the machine
};

struct BootEnd {
  enum class How { up, failed, needs_person } how = How::up;
  std::string detail{};
  std::vector<std::string> advice{};  // NODE stands for the node's name
  std::string host_key{};             // fingerprint of what is up now
  std::string tpm{};                  // SHA-256 of its TPM's endorsement certificate, or empty
  std::vector<std::string> notes{};   // what was otherwise than asked, and what it removed
  inventory::BootWay way{};
  std::string disk{};  // that was written, by its serial
};

class BootRun {
 public:
  explicit BootRun(BootInterfaces doors) : doors_{std::move(doors)} {}

  /// From the beginning. Errors: as the BMC's verbs and the boot server's; kStorage.
  Task<Result<BootEnd>> run(Deadline deadline);
  /// Of a boot that an earlier controller began.
  Task<Result<BootEnd>> resume(BootHandle handle, Deadline deadline);
  /// What is up needs it no more.
  void end_ticket() { doors_.server.revoke(handle_.ticket.token); }
  /// The override and the disc are taken away, and the ticket ends.
  Task<Result<void>> clean_up(BootHandle handle, Deadline deadline);

 private:
  using How = BootEnd::How;
  using Stage = BootHandle::Stage;
  using Kind = netboot::BootEvent::Kind;

  /// What was heard last, or why nothing is.
  struct Heard {
    std::optional<netboot::BootEvent> event{};  // that ends the wait
    bool fetched = false;                       // something, meanwhile
    bool answered = false;                      // the installer's answer file is among it
    std::optional<ConsoleCause> cause{};
  };

  Task<Result<BootEnd>> go_on(Deadline deadline);
  Result<void> open_ticket();
  Task<Result<void>> keep(Stage stage);
  Task<Result<std::optional<BootEnd>>> boot_by_ways(Deadline deadline);
  Task<Result<std::optional<BootEnd>>> boot_by(inventory::BootWay way, Deadline deadline);
  Task<Result<void>> arm(inventory::BootWay way, Deadline deadline);
  /// Where one was inserted: also one that a crash left behind, and then perhaps twice.
  Task<Result<void>> eject_disc(Deadline deadline);
  Task<Result<void>> disarm(Deadline deadline);
  /// What was to be for one boot and was kept.
  Task<Result<void>> take_back_override(Deadline deadline);
  Task<Result<void>> boot_disk_next(const netboot::BootEvent& hello, Deadline deadline);
  Task<Result<Heard>> listen(std::vector<Kind> until, std::chrono::milliseconds silence,
                             Deadline deadline);
  Task<Result<std::optional<BootEnd>>> take_hello(const netboot::BootEvent& hello,
                                                  Deadline deadline);
  Task<Result<void>> take_done(const netboot::BootEvent& event, Deadline deadline);
  Task<Result<std::optional<BootEnd>>> take_home(const netboot::BootEvent& event,
                                                 Deadline deadline);
  Task<Result<std::optional<BootEnd>>> wait_until_written(Deadline deadline);
  Task<Result<std::optional<BootEnd>>> boot_again(Deadline deadline);
  bool may_boot_again() const;
  Task<Result<std::optional<BootEnd>>> wait_for_system(Deadline deadline);
  Task<Result<std::optional<BootEnd>>> wait_for_home(Deadline deadline);
  Task<Result<std::optional<BootEnd>>> wait_for_ssh(Deadline deadline);
  Task<Result<std::optional<BootEnd>>> take_system(FoundSystem found, Deadline deadline);
  /// Nothing where machines accept the boot server's certificate.
  std::optional<BootEnd> certificate_rejected() const;
  BootEnd ended(How how, std::string detail, std::string_view advice) const;
  BootEnd failed_on_node(const netboot::BootEvent& event) const;
  BootEnd refused(const netboot::BootEvent& event) const;
  BootEnd silent(std::string what, const Heard& heard) const;
  static std::string removed_entries(const boost::json::object& done);
  std::string words_for(const netboot::BootEvent& event) const;
  std::string no_hello(const Heard& heard) const;
  std::string went_silent() const;
  std::string_view booted() const { return doors_.installer ? "installer" : "RAM system"; }

  BootInterfaces doors_;
  BootHandle handle_{};
  std::string tried_{};  // the ways that did not lead there, and why
  std::vector<std::string> notes_{};
  bool has_mac_ = false;    // the inventory has one: DHCP can find it
  bool disk_next_ = false;  // its BMC was set to boot the disk
  std::string state_{};     // what it said last that it does
};

}  // namespace cupel::os
