"""Tokens, passwords and files."""

from pathlib import Path

import pytest

from lws.client.connection import AuthenticationConfig, CertificateConfig
from lws.client.credentials import CertificatePair, ConfiguredCredentials, Credential, bearer
from lws.client.errors import CredentialsError
from lws.client.files import REREAD_SECONDS, RotatedFile
from tests.unit.client.support import OwnClock


def configured(clock: OwnClock | None = None, **fields: object) -> ConfiguredCredentials:
    return ConfiguredCredentials(AuthenticationConfig(**fields), clock=clock or OwnClock())  # type: ignore[arg-type]  # fields are the tests' own


async def test_nothing_configured_is_nobody() -> None:
    assert await configured().current() == Credential()


async def test_a_token_is_a_bearer() -> None:
    credentials = configured(token="t")
    assert (await credentials.current()).authorization == "Bearer t"
    assert await credentials.renew(Credential("Bearer t")) == Credential("Bearer t")


async def test_a_password_is_basic() -> None:
    credential = await configured(username="u", password="p").current()
    assert credential.authorization == "Basic dTpw"


async def test_a_token_file_goes_before_a_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    credentials = configured(token="t", token_file=str(tmp_path / "token"))
    assert (await credentials.current()).authorization == "Bearer from-file"


async def test_a_token_file_is_read_again_after_a_minute_and_not_before(tmp_path: Path) -> None:
    file, clock = tmp_path / "token", OwnClock()
    file.write_text("one")
    credentials = configured(clock, token_file=str(file))
    assert (await credentials.current()).authorization == "Bearer one"
    file.write_text("two")
    clock.seconds += REREAD_SECONDS - 1
    assert (await credentials.current()).authorization == "Bearer one"
    clock.seconds += 1
    assert (await credentials.current()).authorization == "Bearer two"


async def test_a_token_file_is_read_at_once_when_its_token_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    credentials = configured(token_file=str(file))
    old = await credentials.current()
    file.write_text("two")
    assert (await credentials.renew(old)).authorization == "Bearer two"


async def test_certificate_files_are_read_and_data_goes_before_them(tmp_path: Path) -> None:
    key = tmp_path / "tls.key"
    key.write_bytes(b"key")
    certificate = CertificateConfig(
        certificate_data=b"data", certificate_file="not there", key_file=str(key)
    )
    credential = await configured(certificate=certificate).current()
    assert credential.certificate == CertificatePair(b"data", b"key")


@pytest.mark.parametrize("token", [b"", b" \n", b"a b", b"a\nb", b"\xff", b"a\x00"])
def test_a_token_that_would_break_the_header_is_refused(token: bytes) -> None:
    with pytest.raises(CredentialsError, match="some/file holds no bearer token"):
        bearer(token, source="some/file")


def test_secrets_do_not_show_in_a_repr() -> None:
    shown = repr(
        [
            AuthenticationConfig(token="secret-t", password="secret-p"),
            CertificateConfig(key_data=b"secret-k"),
            CertificatePair(b"c", b"secret-k"),
            Credential("Bearer secret-t"),
        ]
    )
    assert "secret" not in shown


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match="token cannot be read: No such file"):
        RotatedFile(str(tmp_path / "token"), clock=OwnClock()).read()


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    with pytest.raises(CredentialsError, match="token is empty"):
        RotatedFile(str(tmp_path / "token"), clock=OwnClock()).read()


def test_a_file_that_vanishes_or_empties_is_still_known(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(b"x")
    file = RotatedFile(str(path), clock=OwnClock())
    assert file.read() == b"x"
    path.write_bytes(b"")
    assert file.read_anew() == b"x"
    path.unlink()
    assert file.read_anew() == b"x"
