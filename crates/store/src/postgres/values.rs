//! Converts parameters and values to and from PostgreSQL's wire types.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, WrongType, to_sql_checked};

use crate::error::StoreError;
use crate::exec::{Param, Row, Value};

impl ToSql for Param<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, ty) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Int(number), &Type::INT8) => number.to_sql(ty, out),
            (Self::Int(number), &Type::INT4) => i32::try_from(*number)?.to_sql(ty, out),
            (Self::Text(text), &Type::TEXT | &Type::VARCHAR) => text.to_sql(ty, out),
            (Self::Blob(bytes), &Type::BYTEA) => bytes.to_sql(ty, out),
            (Self::Int(_), _) => Err(WrongType::new::<i64>(ty.clone()).into()),
            (Self::Text(_), _) => Err(WrongType::new::<&str>(ty.clone()).into()),
            (Self::InsertedSeq(table), _) => Err(format!("no earlier statement inserted into {table}").into()),
            (Self::Blob(_), _) => Err(WrongType::new::<&[u8]>(ty.clone()).into()),
        }
    }

    /// The check needs the value (NULL fits every type), so it happens in `to_sql`.
    fn accepts(_ty: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

pub fn owned(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    (0..row.len())
        .map(|column| value(row, column))
        .collect::<Result<_, _>>()
        .map(Row)
}

fn value(row: &tokio_postgres::Row, column: usize) -> Result<Value, StoreError> {
    let value = match *row.columns()[column].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(column)?.map(Value::Int),
        Type::INT4 => row
            .try_get::<_, Option<i32>>(column)?
            .map(|number| Value::Int(number.into())),
        Type::BOOL => row
            .try_get::<_, Option<bool>>(column)?
            .map(|yes| Value::Int(yes.into())),
        Type::TEXT | Type::VARCHAR => row.try_get::<_, Option<String>>(column)?.map(Value::Text),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(column)?.map(Value::Blob),
        ref other => {
            return Err(StoreError::Corrupt(format!(
                "column {column} has the unsupported type {other}"
            )));
        }
    };
    Ok(value.unwrap_or(Value::Null))
}
