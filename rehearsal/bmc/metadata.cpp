#include "rehearsal/bmc/metadata.h"

#include <fmt/format.h>

#include <set>

namespace cupel::rehearsal {
namespace {

/// "#Memory.v1_11_0.Memory" and "#MemoryCollection.MemoryCollection": what stands before the last
/// dot. What a vendor made is not at DMTF's address.
void collect(const json::value& value, std::set<std::string>& spaces) {
  if (const auto* array = value.if_array())
    for (const auto& each : *array) collect(each, spaces);
  const auto* object = value.if_object();
  if (!object) return;
  for (const auto& entry : *object) {
    if (entry.key() == "Oem") continue;
    if (entry.key() == "@odata.type" && entry.value().is_string()) {
      const std::string type{entry.value().as_string()};
      const auto dot = type.rfind('.');
      const bool own = type.starts_with("#Dell");
      if (dot != type.npos && type.starts_with('#') && !own) spaces.insert(type.substr(1, dot - 1));
    }
    collect(entry.value(), spaces);
  }
}

}  // namespace

HttpResponse metadata_document(const ResourceTree& tree) {
  std::set<std::string> spaces;
  for (const auto& [path, whole] : tree) collect(json::value(whole), spaces);
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& space : spaces) files[space.substr(0, space.find('.'))].push_back(space);
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"4.0\">\n";
  std::string root = "ServiceRoot";
  for (const auto& [name, versions] : files) {
    text += fmt::format("<edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/{}_v1.xml\">\n",
                        name);
    if (versions.front() != name) text += fmt::format("<edmx:Include Namespace=\"{}\"/>\n", name);
    for (const auto& version : versions)
      text += fmt::format("<edmx:Include Namespace=\"{}\"/>\n", version);
    text += "</edmx:Reference>\n";
    if (name == "ServiceRoot") root = versions.back();
  }
  text += fmt::format(
      "<edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/RedfishExtensions_v1.xml\">\n"
      "<edmx:Include Namespace=\"RedfishExtensions.v1_0_0\" Alias=\"Redfish\"/>\n"
      "</edmx:Reference>\n<edmx:DataServices>\n"
      "<Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\"Service\">\n"
      "<EntityContainer Name=\"Service\" Extends=\"{}.ServiceContainer\"/>\n"
      "</Schema>\n</edmx:DataServices>\n</edmx:Edmx>\n",
      root);
  return {.headers = {{"Content-Type", "application/xml"}}, .body = std::move(text)};
}

HttpResponse service_document(const ResourceTree& tree) {
  json::array all;
  const auto add = [&](std::string_view name, std::string_view uri) {
    all.push_back({{"name", name}, {"kind", "Singleton"}, {"url", uri}});
  };
  add("Service", "/redfish/v1/");
  const auto root = tree.find("/redfish/v1");
  if (root != tree.end())
    for (const auto& entry : root->second)
      if (const auto uri = text_at(entry.value(), "@odata.id")) add(entry.key(), *uri);
  if (root != tree.end())
    if (const auto uri = text_at(root->second, "Links/Sessions/@odata.id")) add("Sessions", *uri);
  return answer(
      200, json::object{{"@odata.context", "/redfish/v1/$metadata"}, {"value", std::move(all)}});
}

}  // namespace cupel::rehearsal
