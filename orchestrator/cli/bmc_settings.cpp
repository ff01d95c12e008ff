// `cupel bmc NODES media`, `services` and `clock`: the BMC's own settings and slots.
#include <fmt/format.h>

#include "base/text.h"
#include "base/wall_clock.h"
#include "bmc/sent_secrets.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

using inventory::Node;

struct Words {
  std::string what{};
  std::string value{};
};

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

Exit misused(const BmcCommand& command, std::string what) {
  return print_error(command.context, Error{Code::kInvalid, std::move(what)}, Exit::invalid);
}

Task<Result<Answer>> list_media(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto slots, co_await bmc.media.slots(deadline));
  std::vector<Row> rows{{"slot", "takes", "holds"}};
  boost::json::array all;
  for (const auto& slot : slots) {
    rows.push_back({slot.id, joined(slot.types), slot.inserted ? slot.image : ""});
    all.push_back({{"id", slot.id},
                   {"types", boost::json::value_from(slot.types)},
                   {"image", slot.image},
                   {"inserted", slot.inserted},
                   {"source", slot.source}});
  }
  co_return Answer{fmt::format("{} slots\n{}", slots.size(), table(rows)), {{"slots", all}}};
}

Task<Result<Answer>> insert(bmc::Bmc& bmc, std::string url, Deadline deadline) {
  CO_TRY(const auto by, co_await bmc.media.insert(url, deadline));
  const auto shown = bmc::without_credentials(url);
  co_return answer_of_bmc("inserted " + shown, "inserted", shown, by);
}

Task<Result<Answer>> eject(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto by, co_await bmc.media.eject(deadline));
  co_return answer_of_bmc("nothing inserted", "inserted", nullptr, by);
}

Exit media(const BmcCommand& command, const Words& asked) {
  if (asked.what == "eject")
    return ask(command,
               [](bmc::Bmc& bmc, const Node&, Deadline deadline) { return eject(bmc, deadline); });
  if (asked.what != "insert")
    return ask(command, [](bmc::Bmc& bmc, const Node&, Deadline deadline) {
      return list_media(bmc, deadline);
    });
  const auto url = url_of(asked.value);
  if (!url) return print_error(command.context, url.error(), Exit::invalid);
  return ask(command, [&](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    return insert(bmc, *url, deadline);
  });
}

Task<Result<Answer>> list_services(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto services, co_await bmc.manager.services(deadline));
  std::vector<Row> rows{{"service", "state", "port"}};
  boost::json::array all;
  for (const auto& service : services.value) {
    const auto port = service.port == 0 ? std::string{} : std::to_string(service.port);
    rows.push_back({service.name, service.enabled ? "enabled" : "disabled", port});
    all.push_back({{"name", service.name}, {"enabled", service.enabled}, {"port", service.port}});
  }
  const auto count = fmt::format("{} services\n", services.value.size());
  co_return answer_of_bmc(count + table(rows), "services", std::move(all), services.by);
}

Task<Result<Answer>> switch_service(bmc::Bmc& bmc, std::string name, bool enabled,
                                    Deadline deadline) {
  CO_TRY(const auto by, co_await bmc.manager.enable_service(name, enabled, deadline));
  co_return answer_of_bmc(printable(name) + (enabled ? " enabled" : " disabled"), "enabled",
                          enabled, by);
}

Exit services(const BmcCommand& command, const Words& asked) {
  if (asked.what.empty())
    return ask(command, [](bmc::Bmc& bmc, const Node&, Deadline deadline) {
      return list_services(bmc, deadline);
    });
  if (asked.value.empty())
    return misused(command, "which service? Its name, as `services` prints it");
  return ask(command, [&](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    return switch_service(bmc, asked.value, asked.what == "enable", deadline);
  });
}

/// "12 s", "5 min", "1683 days": no more than tells how far off a clock is.
std::string rough(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (seconds >= 2 * kDay) return fmt::format("{} days", seconds / kDay);
  if (seconds >= 2 * kHour) return fmt::format("{} h", seconds / kHour);
  if (seconds >= 10 * kMinute) return fmt::format("{} min", seconds / kMinute);
  return fmt::format("{} s", seconds);
}

Task<Result<Answer>> read_clock(bmc::Bmc& bmc, std::string before, Deadline deadline) {
  CO_TRY(const auto clock, co_await bmc.manager.clock(deadline));
  const auto ahead = clock.ahead.count();
  const auto* side = ahead < 0 ? "behind" : "ahead of";
  auto answer = answer_of_bmc(fmt::format("{}{} UTC, {} {} ours{}{}", before, text_of(clock.time),
                                          rough(ahead < 0 ? -ahead : ahead), side,
                                          clock.ntp_servers.empty() ? "" : ", NTP from ",
                                          printable(joined(clock.ntp_servers))),
                              "time", text_of(clock.time), clock.by);
  answer.object["ahead_seconds"] = ahead;
  answer.object["reported"] = clock.reported;
  answer.object["ntp_servers"] = boost::json::value_from(clock.ntp_servers);
  co_return answer;
}

Task<Result<Answer>> set_clock(bmc::Bmc& bmc, Deadline deadline) {
  const auto now = seconds_now();
  CO_TRY(co_await bmc.manager.set_clock(now, deadline));
  co_return co_await read_clock(bmc, "set; ", deadline);
}

Exit clock(const BmcCommand& command, const Words& asked) {
  const bool set = asked.what == "set";
  return ask(command, [set](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    return set ? set_clock(bmc, deadline) : read_clock(bmc, "", deadline);
  });
}

}  // namespace

std::vector<CommandRow> bmc_settings_commands(const BmcCommand& command) {
  auto disc = std::make_shared<Words>();
  auto service = std::make_shared<Words>();
  auto time = std::make_shared<Words>();
  CommandRow media_row{"media", "virtual discs: list, insert, eject"};
  media_row.options = {{"WHAT",
                        &disc->what,
                        "list (if not given), insert, eject",
                        {.among = {"list", "insert", "eject"}}},
                       {"URL", &disc->value, "of the image to insert"}};
  media_row.run = [command, disc] { return media(command, *disc); };
  CommandRow services_row{"services", "the network services of the BMC"};
  services_row.options = {{"WHAT",
                           &service->what,
                           "enable, disable; list them if not given",
                           {.among = {"enable", "disable"}}},
                          {"NAME", &service->value, "HTTPS, SSH, IPMI, ..."}};
  services_row.run = [command, service] { return services(command, *service); };
  CommandRow clock_row{"clock", "the BMC's clock compared with this machine's; or set it"};
  clock_row.options = {{"WHAT", &time->what, "set it to ours [reads it]", {.among = {"set"}}}};
  clock_row.run = [command, time] { return clock(command, *time); };
  return {media_row, services_row, clock_row};
}

}  // namespace cupel::cli
