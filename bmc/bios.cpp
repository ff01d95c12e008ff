#include "bmc/bios.h"

#include "base/text.h"

namespace cupel::bmc {
namespace {

using namespace std::chrono_literals;

/// "A is 1, not 2; B is not reported".
std::string said(const BiosValues& wanted, const BiosValues& current) {
  std::string text;
  for (const auto& [name, value] : wanted) {
    const auto now = current.find(name);
    const bool so = now != current.end() && same_setting(now->second, value);
    if (so) continue;
    text += (text.empty() ? "" : "; ") + printable(name) +
            (now == current.end() ? " is not reported"
                                  : " is " + to_text(now->second) + ", not " + to_text(value));
  }
  return text;
}

}  // namespace

std::string to_text(const BiosValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return plain(*real, 6);
  return printable(std::get<std::string>(value));
}

bool same_setting(const BiosValue& one, const BiosValue& other) {
  return one == other || to_text(one) == to_text(other);
}

BiosValues differing(const BiosValues& wanted, const BiosSettings& settings) {
  BiosValues different;
  for (const auto& [name, value] : wanted) {
    const auto waiting = settings.pending.find(name);
    const auto now = settings.current.find(name);
    const bool waits = waiting != settings.pending.end();
    const auto& will = waits ? waiting : now;
    const bool told = waits || now != settings.current.end();
    if (!told || !same_setting(will->second, value)) different.emplace(name, value);
  }
  return different;
}

Task<Result<BiosState>> ensure_bios(Bmc& bmc, BiosValues wanted, Deadline deadline) {
  CO_TRY(const BiosSettings before, co_await bmc.bios.read(deadline));
  const auto missing = differing(wanted, before);
  const bool waits = std::ranges::any_of(
      wanted, [&](const auto& one) { return before.pending.contains(one.first); });
  if (missing.empty()) co_return waits ? BiosState::waits_for_boot : BiosState::as_wanted;
  CO_TRY(co_await bmc.bios.stage(std::move(wanted), deadline));
  co_return BiosState::waits_for_boot;
}

Task<Result<void>> confirm_bios(Bmc& bmc, BiosValues wanted, Deadline deadline) {
  CO_TRY(const BiosSettings now, co_await bmc.bios.read(deadline));
  std::string waiting;
  for (const auto& [name, value] : wanted)
    if (now.pending.contains(name)) waiting += (waiting.empty() ? "" : ", ") + printable(name);
  if (!waiting.empty())
    co_return Error{Code::kBusy, "BIOS settings still wait for a boot: " + waiting, 30s};
  const auto otherwise = said(wanted, now.current);
  if (otherwise.empty()) co_return ok();
  co_return Error{Code::kFailed, "the machine has booted, and of its BIOS settings " + otherwise};
}

}  // namespace cupel::bmc
