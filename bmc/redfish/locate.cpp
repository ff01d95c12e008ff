#include "bmc/redfish/locate.h"

#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostChassis = 32;
constexpr std::string_view kActive = "LocationIndicatorActive";
constexpr std::string_view kLed = "IndicatorLED";

/// A light: where it is, by which property, and whether it was on.
struct Light {
  std::string uri;
  std::string_view property;
  bool on = false;
};

std::string_view word_of(const LocatorWords& words, bool on) { return on ? words.on : words.off; }

/// What a resource has. Null is no light, and neither is a word that the standard does not have.
std::optional<Light> light_of(const Document& place, const LocatorWords& words) {
  const auto* active = find(place.body, kActive);
  if (active != nullptr && active->is_bool()) return Light{place.uri, kActive, active->get_bool()};
  const auto led = text_at(place.body, kLed).value_or("");
  if (led != "Lit" && led != "Blinking" && led != "Off") return std::nullopt;
  // Where a lit LED is the state of rest, only a blinking one is a sign.
  const bool on = led == words.on || (led == "Blinking" && words.off != "Blinking");
  return Light{place.uri, kLed, on};
}

/// The System's, else that of the first chassis it stands in.
Task<Result<Light>> find_light(Client& client, Layout layout, Document system, Deadline deadline) {
  const auto& words = layout.rules->locator;
  if (const auto light = light_of(system, words)) co_return *light;
  auto chassis = links_at(system.body, "Links/Chassis");
  const bool is_cut = chassis.size() > kMostChassis;
  if (is_cut) chassis.resize(kMostChassis);
  for (const auto& uri : chassis) {
    if (!is_on_the_bmc(uri)) continue;
    auto body = co_await client.get(uri, deadline);
    if (!body && body.error().code == Code::kNotFound) continue;
    if (!body) co_return std::move(body).error();
    const Document place{uri, *std::move(body)};
    if (const auto light = light_of(place, words)) co_return *light;
  }
  if (is_cut)
    co_return Error{Code::kMalformed, "no locator light among the first " +
                                          std::to_string(kMostChassis) +
                                          " chassis of this machine: the others are not read"};
  co_return Error{Code::kUnsupported, "this BMC shows no locator light by Redfish"};
}

json::object light_body(const Light& light, const LocatorWords& words, bool on) {
  if (light.property == kActive) return {{kActive, on}};
  return {{kLed, word_of(words, on)}};
}

}  // namespace

Task<Result<void>> set_locator(Client& client, Layout layout, Document system, bool on,
                               Deadline deadline) {
  const auto& words = layout.rules->locator;
  CO_TRY(const Light light, co_await find_light(client, layout, std::move(system), deadline));
  if (light.on == on) co_return ok();
  json::value body = light_body(light, words, on);
  CO_TRY(const Sent sent, co_await send_change(client, light.uri, std::move(body), deadline));
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(json::value now, co_await client.get(light.uri, deadline));
    const auto seen = light_of({light.uri, std::move(now)}, words);
    if (seen && seen->on == on) co_return ok();
  }
  co_return sent.not_shown({Code::kFailed, light.uri + ": the BMC accepted " +
                                               std::string{light.property} +
                                               ", and the light stays " + (on ? "off" : "on")});
}

Task<Result<bool>> read_locator(Client& client, Layout layout, Document system, Deadline deadline) {
  CO_TRY(const Light light, co_await find_light(client, layout, std::move(system), deadline));
  co_return light.on;
}

}  // namespace cupel::bmc::redfish
