#include "burnin/board/entry_weight.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::burnin {
namespace {

using enum EntryWeight;

/// A state that is a fault where it is asserted; lower case.
struct FaultState {
  std::string_view words;
  EntryWeight weight;
  std::string_view family = {};  // of what; empty: of no part that could be looked at
};

constexpr std::string_view kPower = "power supplies", kMemory = "memory", kDrives = "drives",
                           kCpus = "processors", kFans = "fans", kSlots = "PCIe devices";

/// The first that matches: narrow words before wide ones.
constexpr auto kFaultStates = std::to_array<FaultState>({
    {"thermal trip", critical, kCpus},
    {"thermtrip", critical, kCpus},
    {"ierr", critical, kCpus},
    {"caterr", critical, kCpus},
    {"machine check exception", critical, kCpus},
    {"frb1", critical, kCpus},
    {"frb2", critical, kCpus},
    {"frb3", critical, kCpus},
    {"processor disabled", warning, kCpus},
    {"automatically throttled", warning},
    {"uncorrectable ecc", critical, kMemory},
    {"uncorrectable memory", critical, kMemory},
    {"uncorrectable", critical},
    {"uncorrected", critical},
    {"multi-bit", critical, kMemory},
    {"memory scrub failed", critical, kMemory},
    {"memory device disabled", warning, kMemory},
    {"ecc error logging limit", warning, kMemory},
    {"correctable ecc", warning, kMemory},
    {"correctable memory error", warning, kMemory},
    {"correctable memory component", warning, kMemory},
    {"memory parity", critical, kMemory},
    {"no usable system memory", critical, kMemory},
    {"no system memory", critical, kMemory},
    {"drive fault", critical, kDrives},
    {"drive failure", critical, kDrives},
    {"drive failed", critical, kDrives},
    {"in failed array", critical, kDrives},
    {"in critical array", warning, kDrives},
    {"rebuild/remap aborted", warning, kDrives},
    {"power supply failure", critical, kPower},
    {"power supply fail", critical, kPower},
    {"ac lost", critical, kPower},
    {"input lost", critical, kPower},
    {"input has been lost", critical, kPower},
    {"input power is lost", critical, kPower},
    {"input power loss", critical, kPower},
    {"input out-of-range", critical, kPower},
    {"ac out-of-range", critical, kPower},
    {"power input lost", critical, kPower},
    {"power good fail", critical, kPower},
    {"power unit failure", critical, kPower},
    {"soft power control failure", critical, kPower},
    {"soft-power control failure", critical, kPower},
    {"240va power down", critical, kPower},
    {"interlock power down", critical, kPower},
    {"insufficient resources", critical, kPower},
    {"redundancy lost", warning, kPower},
    {"redundancy is lost", warning, kPower},
    {"redundancy degraded", warning, kPower},
    {"redundancy is degraded", warning, kPower},
    {"not redundant", warning, kPower},
    {"non-redundant", warning, kPower},
    {"fan failure", critical, kFans},
    {"fan fail", critical, kFans},
    {"pci serr", critical, kSlots},
    {"pci perr", critical, kSlots},
    {"pcie serr", critical, kSlots},
    {"pcie perr", critical, kSlots},
    {"bus fatal error", critical, kSlots},
    {"bus timeout", critical, kSlots},
    {"bus degraded", warning, kSlots},
    {"bus correctable error", warning, kSlots},
    {"fatal nmi", critical},
    {"channel check nmi", critical},
    {"software nmi", critical},
    {"fault status", warning, kSlots},
    {"predictive failure", warning},
    {"configuration error", warning},
    {"failure detected", critical},
    {"non-recoverable", critical},
    {"unrecoverable", critical},
    {"to critical from", critical},
    {"to non-critical from ok", warning},
    {"voltage mismatch", critical, kCpus},
    {"device disabled", warning},
    {"upper critical", critical},
    {"lower critical", critical},
    {"critical high", critical},
    {"critical low", critical},
    {"overheat", critical},
    {"overtemp", critical},
    {"over-temp", critical},
    {"over temp", critical},
    {"over-volt", critical},
    {"overvolt", critical},
    {"under-volt", critical},
    {"undervolt", critical},
    {"over-current", critical},
    {"overcurrent", critical},
    {"leak detected", critical},
    {"run-time critical stop", critical},
    {"system firmware hang", critical},
    {"hardware failure", critical},
    {"battery failed", critical},
    {"battery low", warning},
    {"fru failure", warning},
    {"sensor failure", warning},
    {"limit exceeded", warning},
    {"intrusion", warning},
    {"predicted fail", warning},
});

/// An entry with one of these names something bad, and no rule of what is harmless holds for it.
constexpr auto kBadWords = std::to_array<std::string_view>(
    {"fail",         "fault",       "error",      "unexpected",  "lost",          "loss",
     "temperature",  "thermal",     "trip",       "uncorrect",   "recoverable",   "over-",
     "overvolt",     "overcurrent", "under-",     "undervolt",   "intrusion",     "leak",
     "degrad",       "redundan",    "smoke",      "panic",       "machine check", "ierr",
     "serr",         "caterr",      "hang",       "hung",        "time-out",      "timeout",
     "timed out",    "watchdog",    "protection", "emergency",   "threshold",     "corrupt",
     "tamper",       "attestation", "missing",    "not present", "removed",       "absent",
     "brown",        "throttl",     "abnormal",   "voltage",     "current limit", "short circuit",
     "critical",     "fatal",       "damage",     "moisture",    "unplug",        "violation",
     "insufficient", "disconnect"});

/// Failures of a person's, not of the machine's: they are taken out before bad words are looked
/// for.
constexpr auto kFailedLogins = std::to_array<std::string_view>(
    {"login failed", "login failure", "login attempt failed", "failed login", "failed to log in",
     "failed to login", "authentication failure", "authentication failed", "log in failed",
     "login error", "error log", "session timeout", "session timed out"});

enum class Subject : std::uint8_t {
  people_or_log,   // who logs in, what was set over the network, the log and its clock
  machines_power,  // it goes on and off as ordered
  bmc_itself,      // its memory and its processes
};

/// What a log says of whoever works with the machine, and nothing of the machine. Lower case.
struct Harmless {
  Subject subject;
  std::string_view key;   // a part of the MessageId behind its registry; empty: any
  std::string_view text;  // a part of message or sensor; empty: any
};

using enum Subject;
constexpr auto kHarmless = std::to_array<Harmless>({
    {people_or_log, "sessioncreated", ""},
    {people_or_log, "sessiondel", ""},
    {people_or_log, "login", ""},
    {people_or_log, "logout", ""},
    {people_or_log, "attemptconnect", ""},
    {people_or_log, "usr0030", ""},
    {people_or_log, "usr0032", ""},
    {people_or_log, "log007", ""},
    {people_or_log, "bootorder", ""},
    {people_or_log, "auditlog", ""},
    // AMI's registry Security: of a service that was refused, of a setting that was changed.
    {people_or_log, "accessdenied", "while attempting to"},
    {people_or_log, "accessallowed", ""},
    {people_or_log, "resourcechanged", ""},
    {people_or_log, "resourcemodified", ""},
    {people_or_log, "resourcecreated", ""},
    {people_or_log, "", "logged in"},
    {people_or_log, "", "logged out"},
    {people_or_log, "", "session was created"},
    {people_or_log, "", "log area reset"},
    {people_or_log, "", "log was cleared"},
    {people_or_log, "", "log cleared"},
    {people_or_log, "", "event log is cleared"},
    {people_or_log, "", "timestamp clock sync"},
    {machines_power, "resourcepoweredon", ""},
    {machines_power, "resourcepoweredoff", ""},
    {machines_power, "systempoweraction", ""},
    {machines_power, "powerstatuschange", ""},
    {machines_power, "osboot", ""},
    {machines_power, "", "acpi"},
    {machines_power, "", "powered on"},
    {machines_power, "", "powered off"},
    {machines_power, "", "power cycled"},
    // OpenBMC watches its own memory and processes (captured on a GB200).
    {bmc_itself, "bmcsystemresource", ""},
});

/// OpenBMC's sensors of itself, whole names. Source: phosphor-health-monitor; captured on a GB200.
constexpr auto kOwnSensors =
    std::to_array<std::string_view>({"cpu", "cpu_kernel", "cpu_user", "memory", "memory_available",
                                     "memory_free", "storage_rw", "storage_tmp"});

bool any_in(std::string_view text, auto&& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

std::string without(std::string text, std::string_view words) {
  for (auto at = text.find(words); at != text.npos; at = text.find(words, at))
    text.erase(at, words.size());
  return text;
}

bool names_a_fault(std::string text) {
  for (const auto login : kFailedLogins) text = without(std::move(text), login);
  return any_in(text, kBadWords);
}

/// "CPU sensor crossed a warning high threshold": the BMC's own processor, not the machine's.
bool is_of_bmc_itself(std::string_view message, std::string_view id) {
  const auto sensor = message.substr(0, message.find(" sensor crossed"));
  if (sensor.size() == message.size() || !id.contains("sensorthreshold")) return false;
  return sensor.starts_with("processcpu_") ||
         std::ranges::find(kOwnSensors, sensor) != kOwnSensors.end();
}

constexpr auto kGoodStates = std::to_array<std::string_view>(
    {"presen", "power good", "pwrok", "pgood", "redundant", "enabled", "heartbeat", "working"});

/// They hold a good one, which is denied, was before or stands beside the fault: "Redundancy
/// Degraded from Fully Redundant", "input out-of-range, but present".
constexpr auto kNoGoodStates =
    std::to_array<std::string_view>({"non-redundant", "not redundant", "from fully redundant",
                                     "or fully redundant", "from redundant", "but present"});

/// Whether the fault that the entry names is over. A good state that ends is none.
bool is_over(const LogEntryWords& entry, std::string_view text) {
  const auto direction = lower_case(entry.direction);
  const bool reported = direction == "deassert" || direction == "deasserted";
  const bool deasserted = text.contains("deassert") || text.contains("de-assert");
  auto state = std::string{text};
  for (const auto words : kNoGoodStates) state = without(std::move(state), words);
  return (reported || deasserted) && !any_in(state, kGoodStates);
}

bool says_asserted(const LogEntryWords& entry, std::string_view text) {
  const auto direction = lower_case(entry.direction);
  return direction == "assert" || direction == "asserted" ||
         without(std::string{text}, "deasserted").contains("asserted");
}

const FaultState* fault_in(std::string_view text) {
  const auto found = std::ranges::find_if(
      kFaultStates, [&](const FaultState& state) { return text.contains(state.words); });
  return found == kFaultStates.end() ? nullptr : &*found;
}

/// Of a registry's MessageId: what its key says of the machine, whatever severity stands beside it.
/// Source: DMTF DSP8011, registries Environmental, Power, ResourceEvent, SensorEvent,
/// StorageDevice and Platform; OpenBMC's registry.
constexpr auto kBadKeys = std::to_array<std::string_view>({"fanfail",
                                                           "pumpfail",
                                                           "drivefail",
                                                           "volumefail",
                                                           "controllerfail",
                                                           "powersupplyfail",
                                                           "batteryfail",
                                                           "memoryfail",
                                                           "dimmfail",
                                                           "processorfail",
                                                           "cpufail",
                                                           "gpufail",
                                                           "selftestfail",
                                                           "hardwarefail",
                                                           "platformerror",
                                                           "thermaltrip",
                                                           "leakdetected",
                                                           "uppercritical",
                                                           "lowercritical",
                                                           "upperfatal",
                                                           "lowerfatal",
                                                           "changedcritical",
                                                           "groupcritical",
                                                           "errorsdetected",
                                                           "errorthresholdexceeded",
                                                           "criticalhighgoinghigh",
                                                           "criticallowgoinglow"});

/// Registries of what is done with the machine: that it failed is no fault of a part.
constexpr auto kRegistriesOfActs = std::to_array<std::string_view>(
    {"base", "update", "taskevent", "security", "license", "jobevent"});

/// An entry with one of these tells the end of a fault, or of a setting, a test or a count of none.
constexpr auto kGoodNews = std::to_array<std::string_view>({"clear",
                                                            "restor",
                                                            "recover",
                                                            "no longer",
                                                            "nolonger",
                                                            "resolved",
                                                            "returned",
                                                            "repaired",
                                                            "replaced",
                                                            "normal",
                                                            "corrected",
                                                            "success",
                                                            " test",
                                                            " ok",
                                                            "setting",
                                                            "policy",
                                                            "configur",
                                                            "set to",
                                                            "alert",
                                                            "logging",
                                                            "has been removed",
                                                            "low threshold going high",
                                                            "high threshold going low"});
constexpr auto kBadThatSoundsGood = std::to_array<std::string_view>(
    {"non-recoverable", "nonrecoverable", "unrecoverable", "abnormal", "uncorrected"});

bool is_good_news(std::string text) {
  for (const auto words : kBadThatSoundsGood) text = without(std::move(text), words);
  return text.starts_with("no ") || text.contains(" no ") || text.contains(" 0 ") ||
         any_in(text, kGoodNews);
}

/// Whether the text or the MessageId of an entry that is called well names what has failed.
bool names_a_failure(const FaultState* fault, std::string_view text, std::string_view id) {
  const auto key = id.substr(id.rfind('.') + 1), registry = id.substr(0, id.find('.'));
  if (std::ranges::find(kRegistriesOfActs, registry) != kRegistriesOfActs.end()) return false;
  for (const auto login : kFailedLogins)
    if (text.contains(login)) return false;
  if (is_good_news(std::string{text}) || is_good_news(std::string{key})) return false;
  return (fault != nullptr && fault->weight == critical) || any_in(key, kBadKeys);
}

/// That a supply was pulled out is logged as the end of its presence.
bool is_pulled_supply(const LogEntryWords& entry, std::string_view text) {
  const bool supply = text.contains("power supply") || entry.part.starts_with("psu");
  const bool ended = lower_case(entry.direction) == "deassert" || text.contains("deassert");
  return supply && ended && text.contains("presence");
}

EntryWeight most_of(const Harmless& row) {
  if (row.subject == machines_power) return warning;
  return row.key.empty() ? warning : critical;
}

bool is_harmless(const LogEntryWords& entry, EntryWeight reported, std::string_view text,
                 std::string_view message, std::string_view id) {
  if (is_of_bmc_itself(message, id)) return true;
  if (reported >= warning && names_a_fault(std::string{text}) && !id.contains("bmcsystemresource"))
    return false;
  const auto key = id.substr(id.rfind('.') + 1);
  return std::ranges::any_of(kHarmless, [&](const Harmless& row) {
    const bool named = row.subject == machines_power && reported >= warning && !entry.part.empty();
    return key.contains(row.key) && text.contains(row.text) && reported <= most_of(row) && !named;
  });
}

EntryWeight reported_by(const LogEntryWords& entry, const FaultState* fault, std::string_view text,
                        std::string_view id) {
  if (entry.severity == "Critical") return critical;
  if (entry.severity == "Warning") return warning;
  if (is_pulled_supply(entry, text)) return warning;
  const bool silent = entry.severity.empty();
  const bool counts = fault != nullptr && (silent || says_asserted(entry, text));
  if (counts) return fault->weight;
  return names_a_failure(fault, text, id) ? warning : other;
}

}  // namespace

WeighedEntry weigh(const LogEntryWords& entry) {
  const auto message = lower_case(entry.message), id = lower_case(entry.message_id);
  const auto text = message + " " + lower_case(entry.sensor);
  if (is_over(entry, text)) return {other, {}};
  const auto* fault = fault_in(text);
  const auto reported = reported_by(entry, fault, text, id);
  if (is_harmless(entry, reported, text, message, id)) return {harmless, {}};
  const bool unnamed = reported >= warning && entry.part.empty() && fault != nullptr;
  return {reported, std::string{unnamed ? fault->family : std::string_view{}}};
}

}  // namespace cupel::burnin
