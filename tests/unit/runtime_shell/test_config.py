from __future__ import annotations

from pathlib import Path

import pytest

from grimoire.bus import GATEWAY
from grimoire.plugins import game_names
from grimoire.runtime.config import Address, Config, ConfigError, LogFormat, LogLevel, RunFile
from grimoire.runtime.keys import KeyRing


def test_nothing_need_be_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    config = Config.from_env({})
    assert config.home.name == "grimoire"
    assert config.nats_url is None
    assert str(config.gateway) == "127.0.0.1:7420"
    assert str(config.address("web")) == "127.0.0.1:7400"
    assert str(config.address("matchmaking")) == "127.0.0.1:7421"
    assert str(config.address("replay")) == "127.0.0.1:7422"
    assert str(config.metrics) == "127.0.0.1:7480"
    assert config.database_url("replay") == f"sqlite:///{config.home.as_posix()}/data/replay.db"
    assert {*config.addresses} == {"web", "gateway", "matchmaking", "replay", "bots", *game_names()}
    assert len({*config.addresses.values()}) == len(config.addresses)
    assert all(address.is_loopback for address in config.addresses.values())


def test_every_variable_is_read(tmp_path: Path) -> None:
    pems = [tmp_path / name for name in ("cert.pem", "key.pem", "ca.pem")]
    for pem in pems:
        pem.touch()
    config = Config.from_env(
        {
            "GRIMOIRE_HOME": str(tmp_path),
            "GRIMOIRE_NATS_URL": "nats://a:4222, tls://b:4222",
            "GRIMOIRE_DATABASE_URL": "postgresql://u:p@db/grimoire",
            "GRIMOIRE_DATABASE_URL_TWO_TOWERS": "postgresql://t:p@db/towers",
            "GRIMOIRE_ADDRESS_TWO_TOWERS": "10.0.0.7:9000",
            "GRIMOIRE_ADDRESS_SNAKES": "[::1]:0",
            "GRIMOIRE_METRICS": "0.0.0.0:9090",
            "GRIMOIRE_LOG_LEVEL": "WARNING",
            "GRIMOIRE_LOG_FORMAT": "json",
            "GRIMOIRE_STOP_TIMEOUT": "2.5",
            "GRIMOIRE_PRIVATE_NETWORK": "yes",
            "GRIMOIRE_TLS_CERTIFICATE": str(pems[0]),
            "GRIMOIRE_TLS_KEY": str(pems[1]),
            "GRIMOIRE_TLS_AUTHORITY": str(pems[2]),
            "UNRELATED": "x",
        }
    )
    assert config.home == tmp_path
    assert config.nats_url == "nats://a:4222, tls://b:4222"
    assert config.database_url("replay") == "postgresql://u:p@db/grimoire"
    assert config.database_url("two_towers") == "postgresql://t:p@db/towers"
    assert config.address("two_towers") == Address("10.0.0.7", 9000)
    assert config.address("snakes") == Address("::1", 0)
    assert config.metrics == Address("0.0.0.0", 9090)
    assert (config.log_level, config.log_format) == (LogLevel.WARNING, LogFormat.JSON)
    assert config.stop_timeout_s == 2.5
    assert config.private_network
    assert config.tls == tuple(pems)
    assert Config.from_env(config.to_env()) == config


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("GRIMOIRE_NATS_URL", "http://broker", "nats://host:port"),
        ("GRIMOIRE_NATS_URL", "nats://a,localhost", "nats://host:port"),
        ("GRIMOIRE_DATABASE_URL", "sqlite:///x.db", "postgresql://"),
        ("GRIMOIRE_DATABASE_URL", "postgresql://host", "database"),
        ("GRIMOIRE_DATABASE_URL_REPLAY", "mysql://h/d", "postgresql://"),
        ("GRIMOIRE_ADDRESS_GATEWAY", "7420", "host:port"),
        ("GRIMOIRE_ADDRESS_GATEWAY", "h:70000", "0 to 65535"),
        ("GRIMOIRE_ADDRESS_GATEWAY", "::1:7420", "host:port"),
        ("GRIMOIRE_ADDRESS_GATEWAY", "http://h:1", "host:port"),
        ("GRIMOIRE_ADDRESS_2X", "h:1", "cannot name a service"),
        ("GRIMOIRE_METRICS", "yes", "host:port"),
        ("GRIMOIRE_LOG_LEVEL", "loud", "debug, info, warning, error"),
        ("GRIMOIRE_LOG_FORMAT", "xml", "console, json"),
        ("GRIMOIRE_STOP_TIMEOUT", "soon", "seconds"),
        ("GRIMOIRE_STOP_TIMEOUT", "0", "above 0"),
        ("GRIMOIRE_STOP_TIMEOUT", "nan", "above 0"),
        ("GRIMOIRE_PRIVATE_NETWORK", "maybe", "yes, no"),
        ("GRIMOIRE_TLS_CERTIFICATE", "no-such.pem", "PEM file"),
    ],
)
def test_what_cannot_be_used_is_named_with_what_is_allowed(variable: str, value: str, allowed: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Config.from_env({variable: value})
    assert variable in str(refused.value)
    assert allowed in str(refused.value)


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(ConfigError, match="GRIMOIRE_HOME"):
        Config.from_env({"GRIMOIRE_HOME": str(path)})


def test_an_empty_variable_counts_as_not_set() -> None:
    assert Config.from_env({"GRIMOIRE_NATS_URL": " ", "GRIMOIRE_LOG_LEVEL": ""}).nats_url is None


def test_an_unknown_service_has_no_address_but_the_message_says_how_to_give_it_one(config: Config) -> None:
    with pytest.raises(ConfigError, match="GRIMOIRE_ADDRESS_SNAKES"):
        config.address("snakes")


def test_no_name_of_a_service_leads_out_of_the_data_folder(config: Config) -> None:
    with pytest.raises(ConfigError):
        config.database_url("../keys")


def test_passwords_in_addresses_never_show(tmp_path: Path) -> None:
    config = Config.from_env(
        {
            "GRIMOIRE_HOME": str(tmp_path),
            "GRIMOIRE_NATS_URL": "nats://u:letmein@h:1",
            "GRIMOIRE_DATABASE_URL": "postgresql://u:letmein@h/d",
            "GRIMOIRE_DATABASE_URL_REPLAY": "postgresql://u:letmein@h/d",
        }
    )
    assert "letmein" not in f"{config!r} {config}"


def test_the_broker_is_the_configured_one_or_that_of_the_running_stack(config: Config, keys: KeyRing) -> None:
    with pytest.raises(ConfigError, match="GRIMOIRE_NATS_URL"):
        config.bus_settings(keys, GATEWAY)
    RunFile.of_this_process("1", {"nats": "127.0.0.1:4999"}).write(config.home)
    settings = config.bus_settings(keys, GATEWAY)
    assert settings.servers == ("nats://127.0.0.1:4999",)
    assert settings.password == keys.nats_password(GATEWAY)
    elsewhere = Config(home=config.home, nats_url="nats://a:1, nats://b:2")
    assert elsewhere.bus_settings(keys, GATEWAY).servers == ("nats://a:1", "nats://b:2")
