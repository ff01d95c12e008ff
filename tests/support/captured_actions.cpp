#include "tests/support/captured_actions.h"

#include <algorithm>

namespace cupel::test {
namespace {

std::string without_slash(std::string uri) {
  uri = uri.substr(0, uri.find_first_of("?#"));
  while (uri.size() > 1 && uri.ends_with('/')) uri.pop_back();
  return uri;
}

Written refused(int status, const std::string& id, const std::string& text) {
  return {status, refusal(id, text)};
}

std::vector<std::string> texts(const json::value* list) {
  std::vector<std::string> found;
  const auto* array = list == nullptr ? nullptr : list->if_array();
  if (array == nullptr) return found;
  for (const auto& one : *array)
    if (one.is_string()) found.emplace_back(one.get_string());
  return found;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

const json::value* in(const json::value* object, const std::string& name) {
  return object == nullptr || !object->is_object() ? nullptr
                                                   : object->get_object().if_contains(name);
}

/// Puts `change` into `target`, as far as it has such properties. What was wrong; empty: nothing.
/// A word is right if the list of the resource has it, or that of the one whose settings these are
/// (`owner`): a BlueField-3's differ.
std::string merge(json::object& target, const json::object& change, const json::value* owner) {
  for (const auto& entry : change) {
    const std::string name{entry.key()}, list = name + "@Redfish.AllowableValues";
    auto* there = target.if_contains(name);
    if (there == nullptr) return "PropertyUnknown " + name;
    auto allowed = texts(target.if_contains(list));
    for (auto& word : texts(in(owner, list))) allowed.push_back(std::move(word));
    const bool word = entry.value().is_string();
    if (word && !allowed.empty() && !contains(allowed, std::string{entry.value().get_string()}))
      return "PropertyValueNotInList " + name;
    if (entry.value().is_object() && there->is_object()) {
      const auto wrong = merge(there->get_object(), entry.value().get_object(), in(owner, name));
      if (!wrong.empty()) return wrong;
    } else {
      *there = entry.value();
    }
  }
  return {};
}

/// The attributes that a settings resource takes are those of the BIOS that points to it.
std::optional<std::string> bios_of(const std::string& settings, Resources& now) {
  const auto up = settings.substr(0, settings.rfind('/'));
  const auto bios = now.read(up);
  if (!bios) return std::nullopt;
  const auto link = text_at(*bios, "@Redfish.Settings/SettingsObject/@odata.id").value_or("");
  return without_slash(link) == settings && find(*bios, "Attributes") != nullptr ? std::optional{up}
                                                                                 : std::nullopt;
}

Written stage(const std::string& uri, const json::object& change, json::value resource,
              const json::value& bios, Resources& now) {
  const auto* requested = change.if_contains("Attributes");
  if (requested == nullptr || !requested->is_object())
    return refused(400, "Base.1.8.PropertyMissing", "Attributes is missing.");
  auto& attributes = resource.as_object()["Attributes"];
  if (!attributes.is_object()) attributes = json::object{};
  for (const auto& entry : requested->get_object()) {
    const std::string name{entry.key()};
    if (!bios.at("Attributes").as_object().contains(name))
      return refused(400, "Base.1.8.PropertyUnknown", "No attribute " + name + ".");
    attributes.as_object()[name] = entry.value();
  }
  now.write(uri, std::move(resource));
  return {200, {}};
}

Written patch(const std::string& uri, const json::value& body, Resources& now, Done& done) {
  auto resource = now.read(uri);
  if (!resource) return refused(404, "Base.1.8.ResourceMissingAtURI", "No such resource.");
  if (!body.is_object()) return refused(400, "Base.1.8.MalformedJSON", "Not an object.");
  done.patched.push_back(uri);
  auto change = body.get_object();
  const auto password = text_at(body, "Password");
  const auto user = text_at(*resource, "UserName");
  if (password && user) {
    now.set_password(*user, *password);
    return {};
  }
  if (const auto bios = bios_of(uri, now))
    return stage(uri, change, std::move(*resource), *now.read(*bios), now);
  const auto owner = now.read(uri.substr(0, uri.rfind('/')));
  const auto wrong = merge(resource->as_object(), change, owner ? &*owner : nullptr);
  if (!wrong.empty()) return refused(400, "Base.1.8." + wrong.substr(0, wrong.find(' ')), wrong);
  if (change.contains("Image")) {
    const bool in = change["Image"].is_string();
    resource->as_object()["ConnectedVia"] = in ? "URI" : "NotConnected";
  }
  now.write(uri, std::move(*resource));
  return {};
}

/// What a resource says of the action with this target, wherever in it; nothing: no such action.
const json::value* action_with(const json::value& value, const std::string& target) {
  const auto* object = value.if_object();
  if (object == nullptr) return nullptr;
  const auto reported = text_at(value, "target");
  if (reported && without_slash(*reported) == target) return &value;
  for (const auto& entry : *object) {
    const auto* found = action_with(entry.value(), target);
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::vector<std::string> allowed(const json::value& action, const std::string& parameter,
                                 Resources& now) {
  auto words = texts(find(action, parameter + "@Redfish.AllowableValues"));
  const auto info = text_at(action, "@Redfish.ActionInfo");
  const auto reported = info ? now.read(without_slash(*info)) : std::nullopt;
  const auto* list = reported ? find(*reported, "Parameters") : nullptr;
  if (list == nullptr || !list->is_array()) return words;
  for (const auto& one : list->get_array())
    if (text_at(one, "Name") == parameter)
      for (auto& word : texts(find(one, "AllowableValues"))) words.push_back(std::move(word));
  return words;
}

/// The next boot makes the staged BIOS attributes current.
void boot(const json::value& system, Resources& now) {
  const auto uri = without_slash(text_at(system, "Bios/@odata.id").value_or(""));
  auto bios = now.read(uri);
  if (!bios) return;
  const auto link =
      without_slash(text_at(*bios, "@Redfish.Settings/SettingsObject/@odata.id").value_or(""));
  auto settings = now.read(link);
  const auto* staged = settings ? find(*settings, "Attributes") : nullptr;
  if (staged == nullptr || !staged->is_object() || find(*bios, "Attributes") == nullptr) return;
  for (const auto& entry : staged->get_object())
    bios->as_object()["Attributes"].as_object()[entry.key()] = entry.value();
  now.write(uri, std::move(*bios));
}

void press(const std::string& uri, json::value system, const std::string& type, Resources& now) {
  const bool off = type == "ForceOff" || type == "GracefulShutdown";
  if (!off) boot(system, now);
  system.as_object()["PowerState"] = off ? "Off" : "On";
  now.write(uri, std::move(system));
}

void empty(const json::value& service, Resources& now) {
  const auto uri = without_slash(text_at(service, "Entries/@odata.id").value_or(""));
  auto entries = now.read(uri);
  if (!entries) return;
  entries->as_object()["Members"] = json::array{};
  entries->as_object()["Members@odata.count"] = 0;
  now.write(uri, std::move(*entries));
}

void put(const std::string& uri, json::value slot, const json::value& body, Resources& now) {
  auto& object = slot.as_object();
  object["Image"] = text_at(body, "Image").value_or("");
  object["Inserted"] = true;
  object["ConnectedVia"] = "URI";
  now.write(uri, std::move(slot));
}

void take_out(const std::string& uri, json::value slot, Resources& now) {
  auto& object = slot.as_object();
  object["Image"] = nullptr;
  object["Inserted"] = false;
  object["ConnectedVia"] = "NotConnected";
  now.write(uri, std::move(slot));
}

Written post(const std::string& path, const json::value& body, Resources& now, Done& done) {
  const auto cut = path.find("/Actions/");
  const auto uri = path.substr(0, cut);
  const auto name = path.substr(path.rfind('/') + 1);
  auto resource = now.read(uri);
  const bool eject = name == "VirtualMedia.EjectMedia";
  const auto* action = resource ? action_with(*resource, path) : nullptr;
  // Some show this one only while there is something to eject.
  if (action == nullptr && !(eject && resource && find(*resource, "Inserted") != nullptr))
    return refused(404, "Base.1.8.ActionNotSupported", "No action " + name + ".");
  for (const auto* parameter : {"ResetType", "ClearType"}) {
    if (action == nullptr) break;
    const auto words = allowed(*action, parameter, now);
    const auto reported = text_at(body, parameter);
    if (!words.empty() && !reported)
      return refused(400, "Base.1.8.ActionParameterMissing",
                     std::string{parameter} + " is missing.");
    if (!words.empty() && !contains(words, *reported))
      return refused(400, "Base.1.8.ActionParameterValueNotInList",
                     *reported + " is not in the list.");
  }
  done.actions.push_back(name + " " + serialize(body));
  const auto type = text_at(body, "ResetType").value_or("");
  if (name == "ComputerSystem.Reset") press(uri, std::move(*resource), type, now);
  if (name == "Manager.Reset") now.end_sessions();
  if (name == "LogService.ClearLog") empty(*resource, now);
  if (name == "VirtualMedia.InsertMedia") put(uri, std::move(*resource), body, now);
  if (eject) take_out(uri, std::move(*resource), now);
  return {};
}

}  // namespace

std::string refusal(const std::string& id, const std::string& text) {
  const json::object message{{"MessageId", id}, {"Message", text}, {"Severity", "Critical"}};
  return serialize(json::value{{"error",
                                {{"code", "Base.1.8.GeneralError"},
                                 {"message", "See ExtendedInfo."},
                                 {"@Message.ExtendedInfo", json::array{message}}}}});
}

Writes captured_actions(Done& done) {
  return [&done](const std::string& method, const std::string& uri, const json::value& body,
                 Resources& now) -> std::optional<Written> {
    if (method == "PATCH") return patch(uri, body, now, done);
    if (method == "POST" && uri.find("/Actions/") != std::string::npos)
      return post(uri, body, now, done);
    return std::nullopt;
  };
}

}  // namespace cupel::test
