#include "bmc/rack/reading.h"

#include "base/text.h"
#include "bmc/redfish/client.h"
#include "bmc/redfish/event_log.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/leaks.h"
#include "bmc/redfish/rack_places.h"
#include "bmc/redfish/sensors.h"

namespace cupel::bmc::rack {
namespace {

using inventory::RackDevice;
using inventory::Unknown;

/// Entries of a log in which leaks are looked for.
constexpr std::size_t kLogEntries = 2000;

redfish::Peer peer_of(const Door& door, const RackDevice& device) {
  return {.node = device.name,
          .endpoint = device.endpoint,
          .trust = device.trust,
          .known = &door.known,
          .shared_as = device.known_as,
          .certificate = device.certificate,
          .certificate_key = device.key};
}

/// Puts the value where it belongs, or what it would have been among the unknown.
template <class Value>
void keep(Result<Value> reported, Value& into, const char* fact, const std::string& source,
          std::vector<Unknown>& unknown) {
  if (reported)
    into = *std::move(reported);
  else
    unknown.push_back({fact, source, shortened(reported.error().what, 300)});
}

Task<Result<Identity>> read_identity(redfish::Client& client, Deadline deadline) {
  Observed seen;
  redfish::Survey survey{client, deadline, seen};
  CO_TRY(redfish::Machine machine,
         co_await redfish::find_machine(survey, redfish::Without::goes_on));
  auto identity = co_await redfish::identify(survey, machine);
  if (survey.stopped()) co_return *survey.stopped();
  co_return identity;
}

void add_unknown(std::vector<Unknown>& into, std::vector<Unknown> more) {
  std::ranges::move(more, std::back_inserter(into));
}

Task<Result<BmcReading>> ask_tray(redfish::Client& client, std::string name, Deadline deadline) {
  BmcReading reading;
  auto identity = co_await read_identity(client, deadline);
  if (!identity) co_return std::move(identity).error();
  reading.identity = *std::move(identity);
  auto places = co_await redfish::read_rack_places(client, deadline);
  keep(std::move(places), reading.places, "slots of the GPUs", name, reading.unknown);
  auto leaks = co_await redfish::read_leak_sensors(client, deadline);
  if (leaks) add_unknown(reading.unknown, std::move(leaks->unknown));
  if (leaks)
    reading.leaks = std::move(leaks->sensors);
  else
    reading.unknown.push_back({"leak detectors", name, leaks.error().what});
  auto log = co_await redfish::read_event_log(client, {}, kLogEntries, deadline);
  if (log)
    reading.latched = latched_leaks(*log);
  else
    reading.unknown.push_back({"leaks in the log", name, log.error().what});
  if (log && (log->cut || log->newest_missing))
    reading.unknown.push_back({"leaks in the log", name,
                               log->cut ? "it has more entries than are read: older ones are not"
                                        : "it goes on where it was not read"});
  co_return reading;
}

Task<Result<BmcReading>> ask_equipment(redfish::Client& client, std::string name,
                                       Deadline deadline) {
  BmcReading reading;
  auto seen = co_await redfish::read_inventory(client, deadline);
  if (!seen) co_return std::move(seen).error();
  reading.identity = std::move(seen->identity);
  reading.parts = std::move(seen->parts);
  auto sensors = co_await redfish::read_sensors(client, deadline);
  if (!sensors) reading.unknown.push_back({"sensors", name, sensors.error().what});
  if (!sensors) co_return reading;
  reading.watts = sensors->watts;
  for (auto& one : sensors->sensors)
    (one.kind == SensorKind::leak ? reading.leaks : reading.sensors).push_back(std::move(one));
  co_return reading;
}

using Questions = Task<Result<BmcReading>> (*)(redfish::Client&, std::string, Deadline);

/// In a session that ends on every path.
Task<Result<BmcReading>> in_a_session(Door door, RackDevice device, Questions questions,
                                      Deadline deadline) {
  redfish::Client client{door.transport, peer_of(door, device), device.user,
                         door.secret(device.password)};
  auto reading = co_await questions(client, device.name, deadline);
  co_await client.log_out();
  co_return reading;
}

/// What was answered without saying it.
void note_silence(SwitchReading& reading) {
  const auto note = [&](bool silent, const char* fact) {
    const auto is_known = [&](const Unknown& each) { return each.fact == fact; };
    if (silent && std::ranges::none_of(reading.unknown, is_known))
      reading.unknown.push_back({fact, reading.port, "not reported"});
  };
  note(!reading.place.slot, "its slot");
  note(reading.cluster.state.empty(), "cluster");
  note(reading.health.status.empty(), "health");
  note(reading.leakage.empty(), "leak sensors");
  note(reading.cluster.state == "enabled" && reading.partitions.empty(), "partitions");
}

Task<Result<SwitchReading>> ask_switch(nvos::Nvue nvue, Deadline deadline) {
  SwitchReading reading{.port = nvue.name()};
  auto place = co_await nvos::read_place(nvue, deadline);
  if (!place) co_return std::move(place).error();
  reading.place = *std::move(place);
  auto& unknown = reading.unknown;
  const auto name = nvue.name();
  auto platform = co_await nvos::read_platform(nvue, deadline);
  keep(std::move(platform), reading.platform, "platform", name, unknown);
  auto cluster = co_await nvos::read_cluster(nvue, deadline);
  keep(std::move(cluster), reading.cluster, "cluster", name, unknown);
  auto app = co_await nvos::read_app(nvue, std::string{nvos::kController}, deadline);
  keep(std::move(app), reading.controller, "nmx-controller", name, unknown);
  auto images = co_await nvos::read_images(nvue, deadline);
  keep(std::move(images), reading.images, "images", name, unknown);
  auto health = co_await nvos::read_health(nvue, deadline);
  keep(std::move(health), reading.health, "health", name, unknown);
  auto leakage = co_await nvos::read_leakage(nvue, deadline);
  keep(std::move(leakage), reading.leakage, "leak sensors", name, unknown);
  // Partitions are the controller's; a switch whose cluster is off has none.
  if (reading.cluster.state == "enabled") {
    auto partitions = co_await nvos::read_partitions(nvue, deadline);
    keep(std::move(partitions), reading.partitions, "partitions", name, unknown);
  }
  note_silence(reading);
  co_return reading;
}

}  // namespace

Task<Result<BmcReading>> read_tray(Door door, RackDevice bmc, Deadline deadline) {
  return in_a_session(std::move(door), std::move(bmc), ask_tray, deadline);
}

Task<Result<BmcReading>> read_equipment(Door door, RackDevice bmc, Deadline deadline) {
  return in_a_session(std::move(door), std::move(bmc), ask_equipment, deadline);
}

Task<Result<SwitchReading>> read_switch(Door door, inventory::SwitchTray tray, Deadline deadline) {
  std::optional<Error> last;
  for (const auto& port : tray.nvos) {
    nvos::Nvue nvue{door.transport, peer_of(door, port), port.user, door.secret(port.password)};
    const bool is_last = &port == &tray.nvos.back();
    // A port that is silent leaves time for the other one.
    const auto turn = is_last ? deadline : deadline.sooner(deadline.left() / 2);
    auto reading = co_await ask_switch(std::move(nvue), turn);
    if (reading) co_return reading;
    last = std::move(reading).error();
    const bool other_port = last->code == Code::kUnreachable || last->code == Code::kTimeout;
    if (!other_port) break;
  }
  if (last) co_return *last;
  co_return Error{Code::kInvalid, tray.name + ": the inventory has no nvos address of it"};
}

}  // namespace cupel::bmc::rack
