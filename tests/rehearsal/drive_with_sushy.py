# What a person who automates with sushy does to one machine: reads, boots from the network once,
# turns it on and off. Prints one JSON object. The password is in SUSHY_PASSWORD.
#
#   drive_with_sushy.py https://ADDRESS:PORT /redfish/v1/Systems/ID
import json
import logging
import os
import sys
import time

import sushy
import urllib3

urllib3.disable_warnings()
logging.disable(logging.CRITICAL)
address, path = sys.argv[1:3]
told = {}


def tried(name, act):
    """What `act` returns, or what sushy has against it."""
    for attempt in range(3):
        try:
            told[name] = act()
            return
        except Exception as error:
            told[name] = type(error).__name__
            if not isinstance(error, sushy.exceptions.ConnectionError):
                return


def wait_for(system, power):
    for _ in range(200):
        system.refresh(force=True)
        if system.power_state == power:
            return system.power_state.value
        time.sleep(0.02)
    return "never " + power.value


def network_once(system):
    system.set_system_boot_options(
        target=sushy.BOOT_SOURCE_TARGET_PXE, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE
    )
    system.refresh(force=True)
    return [system.boot.enabled.value, system.boot.target.value]


def pressed(system, button, power):
    system.reset_system(button)
    return wait_for(system, power)


root = sushy.Sushy(
    address,
    verify=False,
    auth=sushy.auth.SessionOrBasicAuth("admin", os.environ["SUSHY_PASSWORD"]),
)
system = root.get_system(path)
tried("systems", lambda: len(root.get_system_collection().get_members()))
tried("power", lambda: system.power_state.value)
tried("cpus", lambda: system.processors.summary.count)
tried("memory", lambda: system.memory_summary.size_gib)
tried("firmware", lambda: len(root.get_update_service().firmware_inventory.get_members()))
tried("boot", lambda: network_once(system))
tried("on", lambda: pressed(system, sushy.RESET_TYPE_ON, sushy.SYSTEM_POWER_STATE_ON))
tried("off", lambda: pressed(system, sushy.RESET_TYPE_FORCE_OFF, sushy.SYSTEM_POWER_STATE_OFF))
print(json.dumps(told))
