#include "orchestrator/os/boot_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "bmc/power.h"
#include "orchestrator/os/installer.h"
#include "orchestrator/os/reported_key.h"

namespace cupel::os {

using inventory::BootWay;
using netboot::BootEvent;

namespace {

/// So often a machine may begin anew while its image is written.
constexpr int kMostRestarts = 3;

/// At the console, between two at SSH: what stands there must be seen twice.
constexpr int kLooksBetween = 3;

constexpr std::size_t kLongestNote = 300;

bool is_by_dhcp(BootWay way) { return way == BootWay::dhcp_http || way == BootWay::pxe; }

/// What a report of progress says.
std::string state_in(const BootEvent& event) {
  constexpr std::size_t kLongest = 100;
  if (event.kind != BootEvent::Kind::progress) return {};
  const json::value body = event.body;  // braces would make a list of it
  return shortened(printable(text_at(body, "state").value_or("")), kLongest);
}

std::optional<asio::ip::address> address_in(const std::string& text) {
  boost::system::error_code bad;
  const auto address = asio::ip::make_address(text, bad);
  return bad ? std::nullopt : std::optional{address};
}

/// A report of a machine whose hello a controller had that died before it was journalled. It says
/// hello again before it needs an answer.
bool lacks_hello(const BootEvent& event) {
  if (event.kind != BootEvent::Kind::refused) return false;
  const json::value body = event.body;
  return text_at(body, "cause") == "no-hello";
}

bool is_one_of(BootEvent::Kind kind, const std::vector<BootEvent::Kind>& kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// A look that was cut saw nothing: what a cancellation left of it says nothing of the machine.
Error was_cancelled() { return Error{Code::kCancelled, "cancelled while its new system booted"}; }

}  // namespace

Task<Result<BootEnd>> BootRun::run(Deadline deadline) {
  CO_TRY(handle_.ticket, doors_.server.draw());
  handle_.digest = doors_.digest;
  CO_TRY(doors_.keep_ticket(handle_.ticket));
  CO_TRY(co_await keep(Stage::drawn));
  co_return co_await go_on(deadline);
}

Task<Result<BootEnd>> BootRun::resume(BootHandle handle, Deadline deadline) {
  handle_ = std::move(handle);
  // What it shows from before is of boots that are over.
  if (doors_.mark_console) doors_.mark_console();
  co_return co_await go_on(deadline);
}

Task<Result<void>> BootRun::clean_up(BootHandle handle, Deadline deadline) {
  handle_ = std::move(handle);
  doors_.server.revoke(handle_.ticket.token);
  if (handle_.stage == Stage::drawn) co_return ok();
  if (handle_.stage == Stage::home) co_return co_await eject_disc(deadline);
  co_return co_await disarm(deadline);
}

Task<Result<void>> BootRun::keep(Stage stage) {
  handle_.stage = stage;
  return doors_.keep(to_text(handle_));
}

Result<void> BootRun::open_ticket() {
  auto reached = netboot::BootStage::issued;
  if (handle_.stage == Stage::written) reached = netboot::BootStage::done;
  if (handle_.stage == Stage::home) reached = netboot::BootStage::home;
  TRY(auto order, doors_.order(handle_.ticket));
  has_mac_ = !order.machine.macs.empty();
  order.by_dhcp = std::ranges::any_of(doors_.ways, is_by_dhcp);
  order.greeted = address_in(handle_.peer);
  // Another try of the same controller has it open still.
  doors_.server.revoke(handle_.ticket.token);
  return doors_.server.open(handle_.ticket, std::move(order), reached);
}

Task<Result<BootEnd>> BootRun::go_on(Deadline deadline) {
  CO_TRY(open_ticket());
  std::optional<BootEnd> end;
  if (handle_.stage == Stage::drawn || handle_.stage == Stage::booting) {
    CO_TRY(end, co_await boot_by_ways(deadline));
  }
  if (!end && handle_.stage == Stage::up && !handle_.digest.empty()) {
    CO_TRY(end, co_await wait_until_written(deadline));
    // Half an image is nothing that it should boot.
    if (end && disk_next_) {
      CO_TRY(co_await disarm(deadline));
    }
  }
  if (!end && handle_.stage == Stage::written) {
    CO_TRY(end, co_await wait_for_system(deadline));
  }
  if (!end) {
    CO_TRY(co_await eject_disc(deadline));
    end = ended(How::up, {}, {});
  }
  end->host_key = handle_.host_key;
  end->tpm = handle_.tpm;
  end->disk = handle_.disk;
  end->notes = notes_;
  if (handle_.way < doors_.ways.size()) end->way = doors_.ways[handle_.way];
  co_return *std::move(end);
}

Task<Result<std::optional<BootEnd>>> BootRun::boot_by_ways(Deadline deadline) {
  if (handle_.stage == Stage::booting) {
    // It was asked to boot before the controller died, and may be at it.
    const std::vector until{Kind::hello, Kind::refused,  Kind::failed,
                            Kind::done,  Kind::progress, Kind::home};
    CO_TRY(auto heard, co_await listen(until, doors_.patience.again, deadline));
    if (heard.event) co_return co_await take_hello(*heard.event, deadline);
  }
  while (handle_.way < doors_.ways.size()) {
    const auto way = doors_.ways[handle_.way];
    CO_TRY(auto end, co_await boot_by(way, deadline));
    if (end || handle_.stage != Stage::booting) co_return end;
    ++handle_.way;
  }
  handle_.way = 0;
  co_return ended(How::failed, fmt::format("it did not boot the {}:{}", booted(), tried_),
                  "look at its console while it starts: cupel bmc NODE console");
}

Task<Result<std::optional<BootEnd>>> BootRun::boot_by(BootWay way, Deadline deadline) {
  const auto name = to_string(way);
  if (auto end = certificate_rejected()) co_return end;
  if (!std::exchange(handle_.peer, {}).empty()) {
    // One that boots once more has said nothing yet: DHCP sends it to its ticket until it has.
    CO_TRY(open_ticket());
  }
  CO_TRY(co_await keep(Stage::booting));
  doors_.waiting(fmt::format("boot by {}", name));
  const auto armed = co_await arm(way, deadline);
  if (!armed) {
    const auto code = armed.error().code;
    if (is_transient(code) || code == Code::kCancelled) co_return armed.error();
    tried_ += fmt::format(" {}: {};", name, armed.error().what);
    co_return std::nullopt;
  }
  if (doors_.mark_console) doors_.mark_console();
  CO_TRY(co_await bmc::restart(doors_.bmc, deadline, doors_.pace));
  const std::vector until{Kind::hello, Kind::refused, Kind::expired};
  CO_TRY(auto heard, co_await listen(until, doors_.patience.fetch, deadline));
  if (heard.event) co_return co_await take_hello(*heard.event, deadline);
  CO_TRY(co_await disarm(deadline));
  tried_ += fmt::format(" {}: {}{};", name, no_hello(heard),
                        heard.cause ? ", " + to_string(*heard.cause) : "");
  // It held when the machine was started. The next way would come to the same.
  co_return certificate_rejected();
}

Task<Result<void>> BootRun::arm(BootWay way, Deadline deadline) {
  auto& bmc = doors_.bmc;
  const auto& base = handle_.ticket.base_url;
  if (is_by_dhcp(way) && !has_mac_)
    co_return Error{Code::kInvalid, "the inventory has no MAC address of it (boot: macs)"};
  if (way == BootWay::media && doors_.installer)
    co_return Error{Code::kInvalid, "an installer's image has no disc"};
  if (way == BootWay::media) {
    // Before it is there: a crash in between leaves nothing in the drive that nobody knows of.
    handle_.disc = true;
    CO_TRY(co_await keep(Stage::booting));
    CO_TRY(co_await bmc.media.eject(deadline));
    CO_TRY(co_await bmc.media.insert(base + "ram.iso", deadline));
  }
  bmc::BootOverride requested{.target = bmc::BootTarget::uefi_http, .once = true};
  if (way == BootWay::uefi_http) requested.uri = base + "ram.efi";
  if (way == BootWay::pxe) requested.target = bmc::BootTarget::pxe;
  if (way == BootWay::media) requested.target = bmc::BootTarget::virtual_cd;
  CO_TRY(co_await bmc.boot.set(requested, deadline));
  co_return ok();
}

Task<Result<void>> BootRun::eject_disc(Deadline deadline) {
  if (!handle_.disc) co_return ok();
  CO_TRY(co_await doors_.bmc.media.eject(deadline));
  handle_.disc = false;
  co_return ok();
}

Task<Result<void>> BootRun::disarm(Deadline deadline) {
  auto& bmc = doors_.bmc;
  CO_TRY(co_await eject_disc(deadline));
  CO_TRY(const bmc::BootOverride kept, co_await bmc.boot.read(deadline));
  if (kept.target == bmc::BootTarget::none) co_return ok();
  CO_TRY(co_await bmc.boot.set({}, deadline));
  co_return ok();
}

Task<Result<BootRun::Heard>> BootRun::listen(std::vector<Kind> until,
                                             std::chrono::milliseconds silence, Deadline deadline) {
  Heard heard;
  bool stood = false;
  auto quiet = deadline.sooner(silence);
  for (;;) {
    auto next =
        co_await doors_.server.next(handle_.ticket.token, quiet.sooner(doors_.patience.look));
    if (next) {
      heard.fetched = heard.fetched || next->kind == Kind::fetched;
      heard.answered = heard.answered || next->file == kAnswerFile;
      if (auto state = state_in(*next); !state.empty()) state_ = std::move(state);
      const auto words = words_for(*next);
      if (!words.empty()) doors_.waiting(words);
      if (is_one_of(next->kind, until) && !lacks_hello(*next)) {
        heard.event = *std::move(next);
        co_return heard;
      }
      // Who fetches its system will soon report; who reports is alive.
      quiet = deadline.sooner(next->kind == Kind::fetched ? doors_.patience.hello : silence);
      continue;
    }
    if (next.error().code != Code::kTimeout) co_return std::move(next).error();
    heard.cause = doors_.console ? console_cause(doors_.console()) : std::nullopt;
    const bool stands = heard.cause && heard.cause->ends;
    // What the machine reports of the same may be on its way.
    if ((stands && stood) || quiet.passed()) co_return heard;
    stood = stands;
  }
}

Task<Result<std::optional<BootEnd>>> BootRun::take_hello(const BootEvent& hello,
                                                         Deadline deadline) {
  if (hello.kind == Kind::refused) co_return refused(hello);
  if (hello.kind == Kind::failed) co_return failed_on_node(hello);
  if (hello.kind == Kind::expired)
    co_return ended(How::failed, "its ticket ended before it had booted", "run the step again");
  if (const auto key = reported_key(hello.body)) handle_.host_key = *key;
  if (auto tpm = reported_tpm(hello.body); !tpm.empty()) handle_.tpm = std::move(tpm);
  if (hello.kind != Kind::home) handle_.peer = hello.peer;
  CO_TRY(co_await keep(Stage::up));
  CO_TRY(co_await take_back_override(deadline));
  if (hello.kind == Kind::hello) {
    CO_TRY(co_await boot_disk_next(hello, deadline));
  }
  if (hello.kind == Kind::done) {
    CO_TRY(co_await take_done(hello, deadline));
  }
  if (hello.kind == Kind::home) co_return co_await take_home(hello, deadline);
  co_return std::nullopt;
}

/// It is gone after the boot, or is taken back before it makes the next one too.
Task<Result<void>> BootRun::take_back_override(Deadline deadline) {
  CO_TRY(const bmc::BootOverride kept, co_await doors_.bmc.boot.read(deadline));
  if (kept.target == bmc::BootTarget::none) co_return ok();
  CO_TRY(co_await doors_.bmc.boot.set({}, deadline));
  notes_.push_back(fmt::format("its BMC kept boot target {} after the boot; it was taken back",
                               to_string(kept.target)));
  co_return ok();
}

/// A BIOS gets no boot entry, and its own order may have the network first. Its BMC is set before
/// the image is written: the machine restarts by itself as soon as it is.
Task<Result<void>> BootRun::boot_disk_next(const BootEvent& hello, Deadline deadline) {
  const json::value body = hello.body;
  const bool by_bios = flag_at(body, "uefi") == false;
  if (!doors_.bios || !by_bios) co_return ok();
  const bmc::BootOverride requested{.target = bmc::BootTarget::disk, .once = true};
  const auto set = co_await doors_.bmc.boot.set(requested, deadline);
  disk_next_ = set.has_value();
  if (set) co_return ok();
  if (is_transient(set.error().code) || set.error().code == Code::kCancelled) co_return set.error();
  notes_.push_back("its BMC cannot be set to boot the disk, so its BIOS has to: " +
                   shortened(printable(set.error().what), kLongestNote));
  co_return ok();
}

Task<Result<void>> BootRun::take_done(const BootEvent& event, Deadline deadline) {
  const json::value reported = event.body;
  handle_.disk = printable(text_at(reported, "disk/serial").value_or(""));
  if (const auto failure = text_at(reported, "mirror_failure"))
    notes_.push_back("its mirror failed, and the image came from the boot server: " +
                     shortened(printable(*failure), kLongestNote));
  if (auto removed = removed_entries(event.body); !removed.empty())
    notes_.push_back(std::move(removed));
  if (find(reported, "entry") != nullptr && !text_at(reported, "entry"))
    notes_.emplace_back(
        "it was started by a BIOS and has no boot entry: the order of devices in its BIOS "
        "decides what it boots from now on");
  CO_TRY(co_await keep(Stage::written));
  co_return co_await eject_disc(deadline);
}

Task<Result<std::optional<BootEnd>>> BootRun::take_home(const BootEvent& event, Deadline deadline) {
  const auto key = reported_key(event.body);
  if (!key)
    co_return ended(How::failed, "its installed system reported no host key that can be used",
                    "look at the image: cloud-init makes host keys at its first boot");
  handle_.host_key = *key;
  CO_TRY(co_await keep(Stage::home));
  if (disk_next_) {
    CO_TRY(co_await take_back_override(deadline));
  }
  co_return std::nullopt;
}

Task<Result<std::optional<BootEnd>>> BootRun::wait_until_written(Deadline deadline) {
  // Also the installed system, whose write ended while no controller was there to hear of it.
  const std::vector until{Kind::hello,  Kind::refused, Kind::done,
                          Kind::failed, Kind::expired, Kind::home};
  for (int restarts = 0; restarts <= kMostRestarts;) {
    CO_TRY(auto heard, co_await listen(until, doors_.patience.silence, deadline));
    if (!heard.event) {
      const bool again = may_boot_again() && restarts < kMostRestarts && !deadline.passed();
      if (!again) co_return silent(went_silent(), heard);
      ++restarts;
      CO_TRY(auto end, co_await boot_again(deadline));
      if (end) co_return end;
      continue;
    }
    const auto& event = *heard.event;
    if (event.kind == Kind::refused) co_return refused(event);
    if (event.kind == Kind::failed) co_return failed_on_node(event);
    if (event.kind == Kind::expired)
      co_return ended(How::failed, "its ticket ended while the OS was installed",
                      "look at the rate at which the disk is written; run the step again");
    if (event.kind == Kind::hello) {
      ++restarts;
      notes_.emplace_back("it was restarted while the image was written, and began again");
      handle_.peer = event.peer;
      CO_TRY(co_await keep(Stage::up));
      CO_TRY(co_await boot_disk_next(event, deadline));
      continue;
    }
    if (event.kind == Kind::home) co_return co_await take_home(event, deadline);
    CO_TRY(co_await take_done(event, deadline));
    co_return std::nullopt;
  }
  co_return ended(How::needs_person, "it restarts again and again while the image is written",
                  "look at its power supplies and its BMC's log: cupel bmc NODE log");
}

/// A machine that lost power while it wrote boots nothing by itself: what its BMC was set to was
/// for one boot, and its disk has no partition table yet.
Task<Result<std::optional<BootEnd>>> BootRun::boot_again(Deadline deadline) {
  CO_TRY(auto end, co_await boot_by(doors_.ways[handle_.way], deadline));
  if (end) co_return end;
  if (handle_.stage == Stage::booting)
    co_return ended(
        How::needs_person,
        fmt::format("{}; it was restarted, and did not boot again:{}", went_silent(), tried_),
        "look at its console while it starts: cupel bmc NODE console");
  notes_.emplace_back(
      "it went silent while the image was written; it was restarted, and began "
      "again");
  co_return std::nullopt;
}

/// What an installer has begun is not its own any more for the one that follows.
bool BootRun::may_boot_again() const {
  return !doors_.installer && handle_.way < doors_.ways.size();
}

Task<Result<std::optional<BootEnd>>> BootRun::wait_for_home(Deadline deadline) {
  if (doors_.mark_console) doors_.mark_console();
  doors_.waiting("restart from its disk");
  const std::vector until{Kind::home, Kind::refused, Kind::expired};
  CO_TRY(auto heard, co_await listen(until, doors_.patience.home, deadline));
  if (heard.event && heard.event->kind == Kind::home)
    co_return co_await take_home(*heard.event, deadline);
  if (heard.event && heard.event->kind == Kind::refused) co_return refused(*heard.event);
  if (heard.event)
    co_return ended(How::failed, "the restart from its disk was not reported in time",
                    "look at its console: cupel bmc NODE console");
  const bool old = doors_.old_system_answers && co_await doors_.old_system_answers(deadline);
  if (co_await cancelled()) co_return was_cancelled();
  if (old)
    co_return ended(How::needs_person,
                    "it booted its old system, which still answers SSH, and not the disk that was "
                    "written",
                    "look at its boot order: cupel bmc NODE boot");
  co_return silent("its installed system did not report", heard);
}

Task<Result<std::optional<BootEnd>>> BootRun::wait_for_system(Deadline deadline) {
  if (doors_.look_for_system) return wait_for_ssh(deadline);
  return wait_for_home(deadline);
}

/// Of an image without a seed: it does not report, so what answers SSH is looked at. The RAM system
/// answers at the same address until it restarts.
Task<Result<std::optional<BootEnd>>> BootRun::wait_for_ssh(Deadline deadline) {
  if (handle_.host_key.empty())
    co_return ended(How::needs_person,
                    "its RAM system reported no host key, so that what answers SSH cannot be "
                    "distinguished from it",
                    "look at what it booted: ssh root@PEER");
  if (doors_.mark_console) doors_.mark_console();
  doors_.waiting("restart from its disk");
  const std::vector until{Kind::refused, Kind::expired};
  const auto quiet = deadline.sooner(doors_.patience.home);
  Heard heard;
  for (;;) {
    auto found = co_await doors_.look_for_system(handle_.host_key, quiet);
    if (co_await cancelled()) co_return was_cancelled();
    if (found) co_return co_await take_system(*std::move(found), deadline);
    if (quiet.passed() || (heard.cause && heard.cause->ends))
      co_return silent("no system that it booted from its disk answers SSH", heard);
    CO_TRY(heard, co_await listen(until, kLooksBetween * doors_.patience.look, quiet));
    if (!heard.event) continue;
    if (heard.event->kind == Kind::refused) co_return refused(*heard.event);
    co_return ended(How::failed, "its ticket ended before a system answered SSH",
                    "look at its console: cupel bmc NODE console");
  }
}

Task<Result<std::optional<BootEnd>>> BootRun::take_system(FoundSystem found, Deadline deadline) {
  handle_.host_key = std::move(found.host_key);
  if (!found.note.empty()) notes_.push_back(std::move(found.note));
  CO_TRY(co_await keep(Stage::home));
  if (disk_next_) {
    CO_TRY(co_await take_back_override(deadline));
  }
  co_return std::nullopt;
}

BootEnd BootRun::ended(How how, std::string detail, std::string_view advice) const {
  BootEnd end{.how = how, .detail = std::move(detail)};
  if (advice.empty()) return end;
  std::string text{advice};
  // The address that said hello: the node's name need not be in the DNS.
  replace_word(text, "PEER", handle_.peer.empty() ? "NODE" : handle_.peer);
  end.advice.push_back(std::move(text));
  return end;
}

}  // namespace cupel::os
