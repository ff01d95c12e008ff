#include "orchestrator/os/boot_handle.h"

#include "base/digest.h"
#include "base/enum_words.h"
#include "base/json.h"

namespace cupel::os {
namespace {

constexpr double kMostWays = 16;

netboot::Ticket ticket_in(const json::value& reported) {
  return {text_at(reported, "token").value_or(""), text_at(reported, "base").value_or(""),
          text_at(reported, "home").value_or("")};
}

}  // namespace

std::string ticket_id(const netboot::Ticket& ticket) {
  constexpr std::size_t kDigits = 16;
  return sha256_hex(ticket.token + " " + ticket.home_url).substr(0, kDigits);
}

std::string to_text(const netboot::Ticket& ticket) {
  return json::serialize(
      json::object{{"token", ticket.token}, {"base", ticket.base_url}, {"home", ticket.home_url}});
}

std::string to_text(const BootHandle& handle) {
  return json::serialize(json::object{{"stage", enum_word<'-'>(handle.stage)},
                                      {"ticket", ticket_id(handle.ticket)},
                                      {"way", handle.way},
                                      {"digest", handle.digest},
                                      {"disk", handle.disk},
                                      {"host_key", handle.host_key},
                                      {"tpm", handle.tpm},
                                      {"peer", handle.peer},
                                      {"disc", handle.disc}});
}

Result<BootHandle> boot_handle_of(
    std::string_view text,
    const std::function<Result<std::string>(const std::string& id)>& ticket) {
  TRY(const auto reported, parse_json(text));
  const auto stage = enum_of<BootHandle::Stage, '-'>(text_at(reported, "stage").value_or(""));
  const auto way = number_at(reported, "way").value_or(0);
  BootHandle handle;
  handle.ticket = ticket_in(reported);
  if (const auto id = text_at(reported, "ticket")) {
    TRY(const auto kept, within("the ticket of a boot", ticket(*id)));
    TRY(const auto value, parse_json(kept));
    handle.ticket = ticket_in(value);
  }
  if (!stage || handle.ticket.token.empty() || way < 0 || way > kMostWays)
    return Error{Code::kMalformed, "the journal's handle is not of a boot"};
  handle.stage = *stage;
  handle.way = static_cast<std::size_t>(way);
  handle.digest = text_at(reported, "digest").value_or("");
  handle.disk = text_at(reported, "disk").value_or("");
  handle.host_key = text_at(reported, "host_key").value_or("");
  handle.tpm = text_at(reported, "tpm").value_or("");
  handle.peer = text_at(reported, "peer").value_or("");
  handle.disc = flag_at(reported, "disc") == true;
  return handle;
}

}  // namespace cupel::os
