#include "bmc/redfish/media.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/task_end.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostSlots = 16;
constexpr int kTriesToInsert = 4;
constexpr std::chrono::seconds kFetching{60};

/// A slot, and the resource as it was read.
struct Slot {
  MediaSlot slot;
  Answer answer;
};

bool takes_discs(const MediaSlot& slot) {
  const auto has = [&](std::string_view type) {
    return std::ranges::find(slot.types, type) != slot.types.end();
  };
  // An AMI tells no types; its slots are called CD1 and HD1.
  return has("CD") || has("DVD") || (slot.types.empty() && slot.id.starts_with("CD"));
}

/// Neither `Inserted` nor `Image` counts alone: either may stay behind when the disc is gone (the
/// image with a Supermicro, which then shows both other properties as they are).
bool holds_something(const MediaSlot& slot, const json::value& body) {
  const auto via = text_at(body, "ConnectedVia").value_or("");
  const bool is_out = flag_at(body, "Inserted") == false && via == "NotConnected";
  if (!slot.image.empty()) return !is_out;
  return slot.inserted && via != "NotConnected" && find(body, "Image") == nullptr;
}

/// Whether the image may be no more than a name that stayed behind: the BMC says that nothing is
/// inserted, and not how a disc is connected. It is one after our own ejection.
bool may_be_stale(const json::value& body) {
  return flag_at(body, "Inserted") == false && !text_at(body, "ConnectedVia");
}

MediaSlot slot_of(const std::string& uri, const json::value& body) {
  MediaSlot slot{.id = reported(body, "Id"), .source = uri};
  if (slot.id.empty()) slot.id = printable(last_name(uri));
  slot.types = texts_of(find(body, "MediaTypes"));
  slot.image = reported(body, "Image");
  slot.inserted = flag_at(body, "Inserted") == true;
  slot.inserted = holds_something(slot, body);
  return slot;
}

Task<Result<Slot>> read_slot(Client& client, std::string uri, Deadline deadline) {
  CO_TRY(Answer answer, co_await client.get_tagged(uri, deadline));
  auto slot = slot_of(uri, answer.body);
  co_return Slot{std::move(slot), std::move(answer)};
}

/// The slots' URIs. iDRAC has moved them from its manager to the System.
Task<Result<std::vector<std::string>>> slot_uris(Client& client, Layout layout, Document system,
                                                 Deadline deadline) {
  auto collection = link_at(system.body, "VirtualMedia");
  if (collection.empty() && !layout.manager.empty()) {
    CO_TRY(const json::value manager, co_await client.get(layout.manager, deadline));
    collection = link_at(manager, "VirtualMedia");
  }
  CO_TRY(auto uris, co_await member_uris(client, collection, kMostSlots, deadline));
  const std::string advice{layout.rules->no_media_advice};
  if (uris.empty())
    co_return Error{Code::kUnsupported, "this BMC has no slots for virtual media" +
                                            (advice.empty() ? "" : "; " + advice)};
  co_return uris;
}

Task<Result<std::vector<Slot>>> read_slots(Client& client, Layout layout, Document system,
                                           Deadline deadline) {
  CO_TRY(const auto uris, co_await slot_uris(client, layout, std::move(system), deadline));
  std::vector<Slot> slots;
  for (const auto& uri : uris) {
    CO_TRY(Slot slot, co_await read_slot(client, uri, deadline));
    slots.push_back(std::move(slot));
  }
  co_return slots;
}

std::string hidden(std::string_view url) {
  return printable(shortened(without_credentials(url), 200));
}

/// "HTTPS" of "https://...", as TransferProtocolType has it.
std::string protocol_of(std::string_view url) {
  std::string word{url.substr(0, url.find("://"))};
  for (char& c : word)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return word;
}

/// Adds what the refusal asks for; whether there was anything new to add. The least is sent first:
/// some refuse what the standard makes optional (X11SDV), others want it.
bool add_what_it_wants(json::object& body, const Error& refusal, std::string_view url) {
  const auto add = [&](std::string_view name, json::value value) {
    if (!says(refusal, name) || body.contains(name)) return false;
    body[name] = std::move(value);
    return true;
  };
  bool added = add("TransferProtocolType", json::value(protocol_of(url)));
  added |= add("TransferMethod", "Stream");
  added |= add("WriteProtected", true);
  added |= add("Inserted", true);
  return added;
}

bool may_want_more(const Error& refusal) {
  return is_http(refusal, 400) || is_http(refusal, 422) || is_http(refusal, 500);
}

Task<Result<Sent>> insert_by_action(Client& client, std::string target, std::string url,
                                    Deadline deadline) {
  json::object body{{"Image", url}};
  for (int tries = 1;; ++tries) {
    auto done = co_await send_act(client, target, body, deadline);
    if (done) co_return *std::move(done);
    Error refusal = std::move(done).error();
    const bool again =
        may_want_more(refusal) && tries < kTriesToInsert && add_what_it_wants(body, refusal, url);
    if (!again) co_return refusal;
  }
}

/// A slot without the action takes a new Image by PATCH: XCC, Cisco C845A. They require the word
/// that the disc is in.
Task<Result<Sent>> put(Client& client, Slot slot, std::string url, Deadline deadline) {
  const auto action = action_at(slot.answer.body, "Actions/#VirtualMedia.InsertMedia");
  if (action) co_return co_await insert_by_action(client, action->target, std::move(url), deadline);
  json::object body{{"Image", url}, {"Inserted", true}};
  if (find(slot.answer.body, "WriteProtected") != nullptr) body["WriteProtected"] = true;
  co_return co_await send_change(client, slot.slot.source, std::move(body), std::move(slot.answer),
                                 deadline, StillRunning::fails);
}

/// The action, also where the BMC shows it only while something is inserted (Supermicro): its
/// place is the standard's. The body is {}: iLO refuses none.
Task<Result<Sent>> take_out(Client& client, Slot slot, Deadline deadline) {
  auto eject = action_at(slot.answer.body, "Actions/#VirtualMedia.EjectMedia");
  const auto insert = action_at(slot.answer.body, "Actions/#VirtualMedia.InsertMedia");
  if (!eject && insert)
    eject = Action{normal(slot.slot.source) + "/Actions/VirtualMedia.EjectMedia", {}};
  if (eject) {
    co_return co_await send_act(client, eject->target, json::object{}, deadline);
  }
  json::value body{{"Image", nullptr}, {"Inserted", false}};
  co_return co_await send_change(client, slot.slot.source, std::move(body), std::move(slot.answer),
                                 deadline, StillRunning::fails);
}

enum class MediaState { in, out };

/// Looks until `until`, and kReadsBack times at least.
Task<Result<void>> read_back(Client& client, std::string uri, MediaState requested, std::string url,
                             Deadline until, Deadline deadline) {
  url = client.bmc_limits().secrets.scrubbed(std::move(url), SentSecrets::In::document);
  std::string seen;
  for (int read = 0; read < kReadsBack || !until.passed(); ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const Slot now, co_await read_slot(client, uri, deadline));
    const bool stale = requested == MediaState::out && may_be_stale(now.answer.body);
    const bool empty = stale || !now.slot.inserted;
    // Some show the last part of the URL alone, or no image at all.
    const bool ours = now.slot.image == url || now.slot.image.empty() ||
                      last_name(url) == last_name(now.slot.image);
    if (requested == MediaState::out ? empty : !empty && ours) co_return ok();
    seen = empty ? "nothing" : "another image";
  }
  co_return Error{Code::kFailed, uri + ": the BMC accepted " +
                                     (requested == MediaState::in ? "the image" : "the ejection") +
                                     " and still has " + (seen.empty() ? "nothing" : seen) +
                                     " in the slot"};
}

/// A BMC that said it is at it (202) may fetch the image first, also once its task has ended.
Deadline shows_until(const Sent& sent, Deadline deadline) {
  return sent.goes_on ? deadline.sooner(kFetching) : Deadline::in({});
}

/// What it shows decides, also where the answer was lost.
Result<void> as_shown(const Sent& sent, Result<void> shown) {
  if (shown || shown.error().code != Code::kFailed) return shown;
  return sent.not_shown(std::move(shown).error());
}

Task<Result<void>> eject_one(Client& client, Slot slot, Deadline deadline) {
  const std::string uri = slot.slot.source;
  CO_TRY(const Sent sent, co_await take_out(client, std::move(slot), deadline));
  co_return as_shown(sent, co_await read_back(client, uri, MediaState::out, {},
                                              shows_until(sent, deadline), deadline));
}

Result<Slot> first_for_discs(std::vector<Slot> slots, const Rules& rules) {
  for (auto& one : slots) {
    if (takes_discs(one.slot) && one.slot.id.starts_with(rules.media_slot)) return std::move(one);
  }
  return Error{Code::kUnsupported, "no slot for virtual media of this BMC takes discs"};
}

Error about_url(Error error, const Rules& rules, std::string_view url) {
  for (auto at = error.what.find(url); at != std::string::npos; at = error.what.find(url, at + 1))
    error.what.replace(at, url.size(), hidden(url));
  const bool trouble = url.find_first_of(rules.media_url_trouble) != url.npos;
  if (!rules.media_url_trouble.empty() && trouble && may_want_more(error))
    error.what += "; some of these BMCs take no URL with one of " +
                  std::string{rules.media_url_trouble} + " in it: serve the image without";
  return error;
}

}  // namespace

Task<Result<std::vector<MediaSlot>>> read_media(Client& client, Layout layout, Document system,
                                                Deadline deadline) {
  CO_TRY(auto slots, co_await read_slots(client, layout, std::move(system), deadline));
  std::vector<MediaSlot> media;
  for (auto& one : slots) {
    one.slot.image = without_credentials(one.slot.image);
    media.push_back(std::move(one.slot));
  }
  co_return media;
}

Task<Result<void>> insert_media(Client& client, Layout layout, Document system, std::string url,
                                Deadline deadline) {
  if (url.find("://") == std::string::npos)
    co_return Error{Code::kInvalid, "not an URL: " + printable(shortened(url, 200))};
  CO_TRY(auto slots, co_await read_slots(client, layout, std::move(system), deadline));
  CO_TRY(Slot slot, first_for_discs(std::move(slots), *layout.rules));
  const bool stale = may_be_stale(slot.answer.body);
  if (slot.slot.inserted && !stale && slot.slot.image == url) co_return ok();
  const std::string uri = slot.slot.source;
  if (slot.slot.inserted) {
    const auto out = co_await eject_one(client, std::move(slot), deadline);
    // A name alone cannot be ejected everywhere: what comes of the insertion counts.
    if (!out && !stale) co_return out.error();
    CO_TRY(Slot emptied, co_await read_slot(client, uri, deadline));
    slot = std::move(emptied);
  }
  auto done = co_await put(client, std::move(slot), url, deadline);
  if (!done)
    co_return about_url(std::move(done).error(), *layout.rules, url)
        .within(uri + " takes " + hidden(url));
  auto shown =
      co_await read_back(client, uri, MediaState::in, url, shows_until(*done, deadline), deadline);
  auto ended = as_shown(*done, std::move(shown));
  if (!ended && done->lost) co_return about_url(std::move(ended).error(), *layout.rules, url);
  co_return ended;
}

Task<Result<void>> eject_media(Client& client, Layout layout, Document system, Deadline deadline) {
  CO_TRY(auto slots, co_await read_slots(client, layout, std::move(system), deadline));
  for (auto& slot : slots) {
    if (!slot.slot.inserted) continue;
    CO_TRY(co_await eject_one(client, std::move(slot), deadline));
  }
  co_return ok();
}

}  // namespace cupel::bmc::redfish
