// An image given to a BMC: in whichever way it takes one. Each way is a row with a function.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/survey.h"
#include "bmc/redfish/update.h"
#include "bmc/redfish/uri.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {
namespace {

/// The longest time for which a BMC that locks itself up has been seen to do so.
constexpr std::chrono::minutes kWriting{30};

/// What a way needs to know.
struct Giving {
  Layout layout;
  Answer service;
  UpdateRules rules;
  UpdateOrder order;
  UpdateWay way;
};

std::string_view word_of(ApplyTime apply) {
  switch (apply) {
    case ApplyTime::as_it_likes:
      return "";
    case ApplyTime::immediate:
      return "Immediate";
    case ApplyTime::on_reset:
      return "OnReset";
  }
  __builtin_unreachable();
}

std::string filled(std::string_view form, const Layout& layout) {
  std::string uri{form};
  for (const auto& [mark, link] :
       {std::pair<std::string_view, std::string>{"{system}", layout.system},
        {"{manager}", layout.manager}})
    if (const auto at = uri.find(mark); at != uri.npos) uri.replace(at, mark.size(), link);
  return uri;
}

std::vector<std::string> targets_of(const Giving& giving, std::span<const OfComponent> usual) {
  if (!giving.order.targets.empty()) return giving.order.targets;
  const auto form = text_for(usual, giving.order.component);
  if (form.empty()) return {};
  return {filled(form, giving.layout)};
}

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

/// What every way says of an image besides where it is.
json::object update_parameters(const Giving& giving, std::span<const OfComponent> usual) {
  json::object body;
  const auto targets = targets_of(giving, usual);
  if (!targets.empty() || giving.layout.handling.names_no_targets)
    body["Targets"] = array_of(targets);
  const auto apply = word_of(giving.order.apply);
  if (!apply.empty()) body["@Redfish.OperationApplyTime"] = apply;
  if (giving.order.force) body["ForceUpdate"] = true;
  return body;
}

Upload upload_of(const Giving& giving, std::string field) {
  const auto& order = giving.order;
  auto name = order.name.empty() ? std::string{last_name(order.file)} : order.name;
  return {.file = {.path = order.file, .bytes = order.bytes, .sha256 = order.sha256},
          .name = std::move(name),
          .field = std::move(field)};
}

/// A service may name an URI that is not there, or that can only be read (sushy-tools: its
/// inventory).
Task<Result<Answer>> send(Client& client, std::string uri, Upload upload, Deadline deadline) {
  auto answer = co_await client.upload(std::move(uri), std::move(upload), deadline);
  if (answer) co_return answer;
  auto error = explained(std::move(answer).error());  // some are busy in these words
  const bool takes_none = (error.code == Code::kNotFound && is_http(error, 404)) ||
                          (error.code == Code::kUnsupported && is_http(error, 405));
  if (takes_none) error.what += fmt::format("; {}", kTakesNoImage);
  co_return error;
}

/// Source: DSP0266, "Multipart HTTP push updates": the parameters are not optional.
Task<Result<UpdateTicket>> push_multipart(Client& client, Giving giving, Deadline deadline) {
  const auto& order = giving.order;
  auto parameters = update_parameters(giving, giving.rules.targets);
  if (giving.rules.verifies_first)
    parameters["@Redfish.OperationApplyTime"] = "OnStartUpdateRequest";
  const auto oem = parse_json(text_for(giving.rules.oem, order.component));
  if (oem) parameters["Oem"] = *oem;
  const auto type = giving.layout.handling.update_parameters_type;
  auto upload = upload_of(giving, "UpdateFile");
  upload.fields.push_back({"UpdateParameters",
                           type.empty() ? "application/json" : std::string{type},
                           serialize(parameters)});
  const std::string more{text_for(giving.rules.oem_parameters, order.component)};
  if (!more.empty()) upload.fields.push_back({"OemParameters", "application/json", more});
  CO_TRY(const Answer answer, co_await send(client, giving.way.uri, std::move(upload), deadline));
  co_return ticket_of(answer, giving.rules.verifies_first ? kVerifies : giving.way.name);
}

Error cannot_name(std::string_view what) {
  return Error{
      Code::kUnsupported,
      fmt::format("this BMC takes images by HttpPushUri, which cannot be given {}; leave it "
                  "out of the component, or use another way",
                  what)};
}

/// An iLO's own form. Its state is the service's, there is no task.
Task<Result<UpdateTicket>> push_form(Client& client, Giving giving, Deadline deadline) {
  if (!giving.order.targets.empty()) co_return cannot_name("targets");
  auto upload = upload_of(giving, "files[]");
  upload.session = giving.rules.form_session;
  const json::object parameters{{"UpdateRepository", false}, {"UpdateTarget", true}};
  upload.fields.push_back({"parameters", "", serialize(parameters)});
  CO_TRY(co_await send(client, giving.way.uri, std::move(upload), deadline));
  co_return UpdateTicket{.way = giving.way.name};
}

/// The properties of the service that stand for what a form would say. Empty: nothing to change.
Result<json::object> push_options(const Giving& giving) {
  const auto& service = giving.service.body;
  json::object body;
  const auto targets = targets_of(giving, giving.rules.targets);
  const bool has_targets = find(service, "HttpPushUriTargets") != nullptr;
  if (!targets.empty() && !has_targets) return cannot_name("targets");
  if (!targets.empty()) body["HttpPushUriTargets"] = array_of(targets);
  const auto apply = word_of(giving.order.apply);
  constexpr std::string_view kApply = "HttpPushUriOptions/HttpPushUriApplyTime/ApplyTime";
  const auto now = text_at(service, kApply);
  if (!apply.empty() && !now) return cannot_name("an apply time");
  if (!apply.empty() && now != apply)
    body["HttpPushUriOptions"] = json::object{{"HttpPushUriApplyTime", {{"ApplyTime", apply}}}};
  if (find(service, "HttpPushUriTargetsBusy") != nullptr) body["HttpPushUriTargetsBusy"] = true;
  return body;
}

/// Whatever became of the upload: a claim that stays keeps everybody out. With a bound of its own:
/// also where the caller was cancelled. What is left of the claim shows in `busy`.
Task<void> release(Client& client, std::string service, json::object held) {
  constexpr std::chrono::seconds kRelease{15};
  json::object body;
  if (held.contains("HttpPushUriTargets")) body["HttpPushUriTargets"] = json::array{};
  if (held.contains("HttpPushUriTargetsBusy")) body["HttpPushUriTargetsBusy"] = false;
  if (body.empty()) co_return;
  const auto deadline = Deadline::in(kRelease);
  const auto released = co_await with_deadline(
      deadline, send_change(client, std::move(service), std::move(body), deadline));
  (void)released;
}

Task<Result<UpdateTicket>> push_raw(Client& client, Giving giving, Deadline deadline) {
  const bool claimed = flag_at(giving.service.body, "HttpPushUriTargetsBusy") == true;
  if (claimed && !giving.order.claim_is_ours)
    co_return Error{Code::kBusy,
                    giving.layout.updates +
                        ": HttpPushUriTargetsBusy is set: another update is running, or one was "
                        "left behind; if none is, set it to false",
                    std::chrono::seconds{60}};
  CO_TRY(json::object held, push_options(giving));
  Sent claim;
  if (!held.empty()) {
    CO_TRY(claim,
           co_await send_change(client, giving.layout.updates, held, giving.service, deadline));
  }
  if (claim.lost) {
    co_await release(client, giving.layout.updates, std::move(held));
    co_return *std::move(claim.lost);
  }
  auto answer = co_await send(client, giving.way.uri, upload_of(giving, ""), deadline);
  co_await release(client, giving.layout.updates, std::move(held));
  if (!answer) co_return std::move(answer).error();
  co_return ticket_of(*answer, giving.way.name);
}

/// What `refusal` asks for, by its name in it.
bool wants_protocol(const Error& refusal, const json::object& body) {
  return refusal.what.find("TransferProtocol") != std::string::npos &&
         !body.contains("TransferProtocol");
}

std::string protocol_of_uri(std::string_view uri) {
  std::string word{uri.substr(0, uri.find("://"))};
  for (char& c : word)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return word;
}

/// A BMC that failed in the middle of its answer may have begun all the same.
Error maybe_begun(Error error) {
  const auto is = [&](int status) { return is_http(error, status); };
  if (std::ranges::any_of(kMayHaveBegun, is)) error.code = Code::kUnreachable;
  return error;
}

Task<Result<UpdateTicket>> pull(Client& client, Giving giving, std::string uri, Deadline deadline) {
  const auto action = action_at(giving.service.body, "Actions/#UpdateService.SimpleUpdate");
  if (!action) co_return Error{Code::kUnsupported, "this BMC has no SimpleUpdate"};
  auto body = update_parameters(giving, giving.rules.simple_targets);
  body["ImageURI"] = uri;
  const bool by_network = uri.find("://") != std::string::npos;
  const auto protocol = protocol_of_uri(uri);
  if (by_network) {
    CO_TRY(const auto allowed,
           co_await allowed_words(client, *action, "TransferProtocol", deadline));
    const bool has = std::ranges::find(allowed, protocol) != allowed.end();
    if (!allowed.empty() && !has)
      co_return Error{
          Code::kUnsupported,
          fmt::format("this BMC fetches images by {}, not by {}",
                      printable(fmt::format("{}", fmt::join(allowed, ", "))), protocol)};
    if (has) body["TransferProtocol"] = protocol;
  }
  // Not act(): the URI is a secret for as long as it holds.
  auto answer = co_await client.post(action->target, body, deadline);
  if (!answer && by_network && wants_protocol(answer.error(), body)) {
    body["TransferProtocol"] = protocol;
    answer = co_await client.post(action->target, body, deadline);
  }
  if (!answer) co_return maybe_begun(std::move(answer).error());
  co_return ticket_of(*answer, giving.way.name);
}

Task<Result<UpdateTicket>> push_simple(Client& client, Giving giving, Deadline deadline) {
  const auto uri = giving.order.pull_uri;
  return pull(client, std::move(giving), uri, deadline);
}

/// An image that becomes a member of the inventory, for SimpleUpdate to name. The collection's ETag
/// is requested.
Task<Result<UpdateTicket>> push_stored(Client& client, Giving giving, Deadline deadline) {
  CO_TRY(const Answer inventory, co_await client.get_tagged(giving.way.uri, deadline));
  auto upload = upload_of(giving, "file");
  upload.headers.push_back("If-Match: " + (inventory.etag.empty() ? "*" : inventory.etag));
  CO_TRY(const Answer stored, co_await send(client, giving.way.uri, std::move(upload), deadline));
  auto uri = path_of(stored.location);
  if (uri.empty()) uri = text_at(stored.body, "@odata.id").value_or("");
  if (!is_on_the_bmc(uri))
    co_return Error{Code::kMalformed, giving.way.uri +
                                          ": the BMC took the image and does not say under which "
                                          "URI; nothing was installed"};
  co_return co_await pull(client, std::move(giving), std::move(uri), deadline);
}

using Give = Task<Result<UpdateTicket>> (*)(Client&, Giving, Deadline);
constexpr std::array<std::pair<std::string_view, Give>, 5> kWays{{{"multipart", push_multipart},
                                                                  {"form", push_form},
                                                                  {"store", push_stored},
                                                                  {"push", push_raw},
                                                                  {"simple", push_simple}}};

/// The first one that this order can go.
Result<UpdateWay> way_for(const std::vector<UpdateWay>& ways, const UpdateOrder& order) {
  const auto fits = [&](const UpdateWay& way) {
    if (way.name == order.refused_way) return false;
    return way.name == "simple" ? !order.pull_uri.empty() : !order.file.empty();
  };
  const auto way = std::ranges::find_if(ways, fits);
  if (way != ways.end()) return *way;
  std::vector<std::string> names;
  for (const auto& one : ways) names.push_back(one.name);
  return Error{Code::kUnsupported,
               fmt::format("this BMC takes no image in this way: it offers {}",
                           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
}

/// What can be known before anything is sent.
Result<void> may_take(const json::value& service, const UpdateOrder& order, const UpdateWay& way) {
  if (flag_at(service, "ServiceEnabled") == false)
    return Error{Code::kUnsupported, "the BMC's update service is disabled; enable it first"};
  const auto most = number_at(service, "MaxImageSizeBytes").value_or(0);
  if (most > 0 && static_cast<double>(order.bytes) > most)
    return Error{Code::kFailed, fmt::format("the image has {} bytes, and this BMC takes {:.0f}",
                                            order.bytes, most)};
  const auto apply = word_of(order.apply);
  const auto* known =
      find(service, "MultipartHttpPushUri@Redfish.OperationApplyTimeSupport/SupportedValues");
  const auto words = texts_of(known);
  const bool lacks = std::ranges::find(words, apply) == words.end();
  if (way.name == "multipart" && !apply.empty() && !words.empty() && lacks)
    return Error{Code::kUnsupported,
                 fmt::format("this BMC applies images {}, not {}",
                             printable(fmt::format("{}", fmt::join(words, ", "))), apply)};
  return ok();
}

/// A Supermicro names the task in a message alone.
std::string task_in_message(const json::value& body) {
  const auto* reported = find(body, "Accepted/@Message.ExtendedInfo");
  const auto* list = reported == nullptr ? nullptr : reported->if_array();
  if (list == nullptr || list->empty()) return {};
  const auto args = texts_of(find(list->front(), "MessageArgs"));
  return args.empty() ? std::string{} : args.front();
}

}  // namespace

UpdateTicket ticket_of(const Answer& answer, std::string_view way) {
  UpdateTicket ticket{.way = std::string{way}};
  const auto type = text_at(answer.body, "@odata.type").value_or("");
  const bool is_task = type.starts_with("#Task.") || find(answer.body, "TaskState") != nullptr;
  const auto own = is_task ? text_at(answer.body, "@odata.id").value_or("") : std::string{};
  for (const auto& uri : {own, path_of(answer.location), task_in_message(answer.body)}) {
    if (!is_path(uri)) continue;
    ticket.task = uri;
    break;
  }
  return ticket;
}

Task<Result<UpdateTicket>> push_update(Client& client, Layout layout, UpdateOrder order,
                                       Deadline deadline) {
  CO_TRY(Answer service, co_await client.get_tagged(layout.updates, deadline));
  const auto rules = update_rules_of(*layout.rules, service.body);
  CO_TRY(UpdateWay way, way_for(update_ways(service.body, rules), order));
  CO_TRY(may_take(service.body, order, way));
  const auto row = std::ranges::find(kWays, way.name, &std::pair<std::string_view, Give>::first);
  Giving giving{std::move(layout), std::move(service), rules, std::move(order), std::move(way)};
  client.bmc_limits().expect_firmware_written(kWriting);
  co_return co_await row->second(client, std::move(giving), deadline);
}

Task<Result<UpdateTicket>> start_verified_update(Client& client, Layout layout, UpdateTicket,
                                                 Deadline deadline) {
  CO_TRY(const json::value service, co_await client.get(layout.updates, deadline));
  const auto action = action_at(service, "Actions/#UpdateService.StartUpdate");
  if (!action) co_return Error{Code::kUnsupported, "this BMC has no StartUpdate"};
  auto answer = co_await act(client, action->target, json::object{}, deadline);
  if (!answer) co_return maybe_begun(std::move(answer).error());
  co_return ticket_of(*answer, "start");
}

}  // namespace cupel::bmc::redfish
