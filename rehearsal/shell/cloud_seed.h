#pragma once
// What a virtual node's operating system does with a seed of cloud-init's NoCloud when it starts
// for the first time: its name, who may log in, files, commands. No more of cloud-init than seeds
// of Cupel ask for; the texts are JSON, which is YAML.
#include <map>
#include <string>

namespace cupel::rehearsal {

class Host;

/// What "meta-data" calls it; empty where it says nothing.
std::string seeded_name(const std::map<std::string, std::string>& seed);

/// On a host that has just started. A text that cannot be read is not heeded.
void heed_seed(Host& host, const std::map<std::string, std::string>& seed);

}  // namespace cupel::rehearsal
