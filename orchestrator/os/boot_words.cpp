// What a boot ends of, and how far it is, in words: hostile where a machine said them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/os/boot_run.h"
#include "orchestrator/os/node_failure.h"

namespace cupel::os {
namespace {

constexpr std::size_t kLongestText = 300;
constexpr std::string_view kRenew = "renew the certificate of boot: tls, then run the step again";

std::string word_in_body(const json::object& body, std::string_view key) {
  const auto* value = body.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  return shortened(printable(value->get_string()), kLongestText);
}

std::uint64_t count(const json::object& body, std::string_view key) {
  const auto* value = body.if_contains(key);
  if (value == nullptr || !value->is_number()) return 0;
  const auto number = value->to_number<double>();
  return number > 0 && number < 1e18 ? static_cast<std::uint64_t>(number) : 0;
}

}  // namespace

BootEnd BootRun::failed_on_node(const netboot::BootEvent& event) const {
  const auto cause = word_in_body(event.body, "cause");
  const auto text = word_in_body(event.body, "text");
  const auto row = node_failure(cause);
  auto detail = std::string{row.words} + (text.empty() ? "" : ": " + text);
  return ended(How::needs_person, std::move(detail), row.advice);
}

/// Which of the boot server's causes says that the wrong machine stands there, is in
/// docs/do/netboot.md.
BootEnd BootRun::refused(const netboot::BootEvent& event) const {
  const auto cause = word_in_body(event.body, "cause"), text = word_in_body(event.body, "text");
  if (cause == "booted-again")
    return ended(How::needs_person, text, "look at its boot order: cupel bmc NODE boot");
  if (cause == "wrong-arch")
    return ended(How::needs_person, "the machine is of another architecture: " + text,
                 "take a RAM system and an image for its architecture (cupel image list), or look "
                 "which machine is in this slot");
  if (cause == "signed") return ended(How::failed, text, "set ways: http or media");
  if (cause == "late" || cause == "malformed" || cause == "no-hello")
    return ended(How::failed, "the boot server refused its report: " + text, "run the step again");
  return ended(How::needs_person,
               "the machine that booted is not the one of the inventory: " + text,
               "look which machine is in this slot; correct serial and boot: macs in the "
               "inventory where they are wrong");
}

std::optional<BootEnd> BootRun::certificate_rejected() const {
  const auto accepted = doors_.server.check_certificate();
  if (accepted) return std::nullopt;
  const auto before =
      tried_.empty() ? "" : fmt::format("it did not boot the {}:{} ", booted(), tried_);
  return ended(How::failed, before + accepted.error().what, kRenew);
}

BootEnd BootRun::silent(std::string what, const Heard& heard) const {
  const auto accepted = doors_.server.check_certificate();
  if (!accepted) return ended(How::needs_person, what + ": " + accepted.error().what, kRenew);
  const auto advice = heard.cause ? heard.cause->row->advice
                                  : std::string_view{"look at its console: cupel bmc NODE console"};
  return ended(How::needs_person, what + (heard.cause ? ": " + to_string(*heard.cause) : ""),
               advice);
}

/// What was fetched of what, where nothing said hello.
std::string BootRun::no_hello(const Heard& heard) const {
  if (!heard.fetched) return "nothing was fetched";
  if (!doors_.installer) return "it fetched its files, and no RAM system reported";
  if (heard.answered)
    return "the installer fetched its answer file, and did not report: its early command failed";
  return "it fetched the installer, which never asked for its answer file: it has no driver of its "
         "NIC, got no address by DHCP, or does not reach the boot server";
}

std::string BootRun::went_silent() const {
  if (!doors_.installer) return "its RAM system was not heard of any more while it wrote the image";
  return fmt::format("its installer stands still{}: it asks something, or hangs",
                     state_.empty() ? "" : " in its step '" + state_ + "'");
}

/// Empty where none was removed.
std::string BootRun::removed_entries(const json::object& done) {
  constexpr std::size_t kMostNamed = 8, kLongestName = 60;
  const auto* removed = done.if_contains("removed_entries");
  if (removed == nullptr || !removed->is_array() || removed->get_array().empty()) return {};
  const auto& all = removed->get_array();
  std::vector<std::string> named;
  for (const auto& each : all)
    if (each.is_string() && named.size() < kMostNamed)
      named.push_back(shortened(printable(each.get_string()), kLongestName));
  const auto more = all.size() - named.size();
  return fmt::format("removed from its NVRAM: {}{}", fmt::join(named, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string BootRun::words_for(const netboot::BootEvent& event) const {
  const auto name = booted();
  if (event.kind == Kind::fetched)
    return fmt::format("{}: fetched {}", name, printable(event.file));
  if (event.kind == Kind::hello) return fmt::format("{}: up", name);
  if (event.kind == Kind::done) return "restart from its disk";
  if (event.kind != Kind::progress) return {};
  const auto bytes = count(event.body, "bytes");
  const auto of = count(event.body, "of");
  const auto state = word_in_body(event.body, "state");
  if (of == 0 || bytes > of) return fmt::format("{}: {}", name, state);
  return fmt::format(
      "{}: {} ({} %)", name, state,
      static_cast<int>(100.0 * static_cast<double>(bytes) / static_cast<double>(of)));
}

}  // namespace cupel::os
